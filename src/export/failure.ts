/** The export cannot be written there, or in that format. The message says what to do. */
export class ExportError extends Error {
  override readonly name = 'ExportError';
}
