/** What was asked cannot be exported there, or the way it was asked. The message says what to do. */
export class ExportError extends Error {
  override readonly name = 'ExportError';
}
