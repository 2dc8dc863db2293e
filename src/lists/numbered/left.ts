import { sql } from 'drizzle-orm';
import type { Database } from '../../db/transaction.ts';
import type { RunLeft } from '../run-left.ts';
import { historyOf } from './plan.ts';
import type { NumberedRun } from './scope.ts';
import { frontierOf } from './walks.ts';

/** How many numbers of a run's range are read; null where the newest one is not known, or all were read once. */
export async function batchesLeft(db: Database, run: NumberedRun): Promise<RunLeft | null> {
  if (run.lane === 'live') return null;
  const top = run.scope.to_batch ?? (await frontierOf(db, run));
  if (top === null) return null;
  const { from, to } = historyOf(run, run.scope, top);
  const { rows } = await db.execute<{ done: number }>(sql`
    select count(*)::float8 as done from explorer.read_batches
    where chain_id = ${run.chain_id} and batch_number between ${from} and ${to}
  `);
  const [total, done] = [to - from + 1, rows[0]?.done ?? 0];
  // What is read again until it is proved has no length.
  return done >= total ? null : { unit: 'batches', done, total };
}
