/** The embedded Postgres cannot be provided. The message says why and what to do. */
export class EmbeddedPostgresError extends Error {
  override readonly name = 'EmbeddedPostgresError';

  constructor(reason: string, options?: ErrorOptions) {
    // Node puts the command line before the program's output.
    const cause = options?.cause instanceof Error ? options.cause.message.split('\n') : [];
    const because = (cause.length > 1 ? cause.slice(1) : cause).join('\n').replace(/\.?\s*$/u, '');
    const gap = reason.endsWith('\n') ? '' : '. ';
    super(
      `${reason}${because && `: ${because}`}${gap}Set DATABASE_URL to use a Postgres of your own instead.`,
      options,
    );
  }
}

export function systemCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? String(error.code) : undefined;
}

/** The result, or undefined if the file or directory does not exist. */
export const unlessMissing = <T>(reading: Promise<T>): Promise<T | undefined> =>
  reading.catch((error: unknown) => {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw error;
  });
