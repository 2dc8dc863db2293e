/** The embedded Postgres cannot be provided. The message says why and what a person can do. */
export class EmbeddedPostgresError extends Error {
  override readonly name = 'EmbeddedPostgresError';

  constructor(reason: string, options?: ErrorOptions) {
    const because = options?.cause instanceof Error ? `: ${reasonOf(options.cause)}` : '';
    const gap = reason.endsWith('\n') ? '' : '. ';
    super(
      `${reason}${because}${gap}Set DATABASE_URL to use a Postgres of your own instead.`,
      options,
    );
  }
}

/** What a program wrote: Node puts its command line before it. */
function reasonOf({ message }: Error): string {
  const [first = '', ...others] = message.replace(/\.?\s*$/u, '').split('\n');
  return others.length === 0 ? first : others.join('\n');
}

/** The code of a Node system error (`ENOENT`, `EACCES`, …), or undefined for any other value. */
export function systemCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

/** What `reading` gives, or undefined if the file or directory that it reads does not exist. */
export async function unlessMissing<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}
