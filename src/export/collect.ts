import type { Pool } from 'pg';
import { readAnswer, type Row, type Statement } from '../query/read.ts';

/** All rows of an answer that is small. Times are in UTC. */
export async function collect(
  pool: Pool,
  statement: Statement,
  signal: AbortSignal,
): Promise<readonly Row[]> {
  const all: Row[] = [];
  await readAnswer(
    pool,
    statement,
    { timeoutMs: 0, limit: null, signal },
    {
      begin: () => undefined,
      async rows(rows) {
        all.push(...rows);
      },
    },
  );
  return all;
}
