/** The export's target or format is impossible. The message says what to do. */
export class ExportError extends Error {
  override readonly name = 'ExportError';
}
