/** The embedded Postgres could not be provided. The message says why and what a person can do. */
export class EmbeddedPostgresError extends Error {
  override readonly name = 'EmbeddedPostgresError';

  constructor(reason: string, options?: ErrorOptions) {
    super(`${reason}. Set DATABASE_URL to use a Postgres of your own instead.`, options);
  }
}

/** The code of a Node system error (`ENOENT`, `EACCES`, …), or undefined for any other value. */
export function systemCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

/** What `reading` gives, or undefined when the file or directory it reads does not exist. */
export async function unlessMissing<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}
