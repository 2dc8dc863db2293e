/** The database cannot be brought to this program's schema. The message says what a person can do. */
export class MigrationError extends Error {
  override readonly name = 'MigrationError';
  /** The bare command to run. */
  readonly command: string | null;

  constructor(message: string, options: ErrorOptions & { readonly command?: string } = {}) {
    super(message, options);
    this.command = options.command ?? null;
  }
}

/** What a person reads where the database is newer than the program. */
export const newerDatabase =
  'The database was migrated by a newer version of explorer-etl: update this program to that version.';
