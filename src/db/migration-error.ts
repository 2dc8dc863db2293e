/** The database cannot be migrated. The message says what to do. */
export class MigrationError extends Error {
  override readonly name = 'MigrationError';
  readonly command: string | null;

  constructor(message: string, options: ErrorOptions & { readonly command?: string } = {}) {
    super(message, options);
    this.command = options.command ?? null;
  }
}

export const newerDatabase =
  'The database was migrated by a newer version of explorer-etl: update this program to that version.';
