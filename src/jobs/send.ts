import { sql } from 'drizzle-orm';
import { fromDrizzle, type PgBoss } from 'pg-boss';
import type { Database, Transaction } from '../db/transaction.ts';
import { feedName, ofLane, type FeedLane } from '../lists/feed.ts';
import type { Lane } from '../walk/tables.ts';
import { sliceQueue } from './boss.ts';

/** A lane's job: its key makes sure that there is one at most. */
export const keyOf = (lane: FeedLane) => `${feedName(lane)}/${lane.lane}`;

/** What is new is taken up before what is old, where both wait for a worker. */
const priorities: Readonly<Record<Lane, number>> = { live: 1, backfill: 0 };

interface SendOptions {
  readonly tx?: Transaction;
  readonly afterMs?: number;
}

/** Queues a slice of a lane, unless one is queued or active already. */
export async function sendSlice(
  boss: PgBoss,
  { chain_id, operation, lane }: FeedLane,
  { tx, afterMs = 0 }: SendOptions = {},
): Promise<void> {
  const data: FeedLane = { chain_id, operation, lane };
  await boss.send(sliceQueue, data, {
    singletonKey: keyOf(data),
    priority: priorities[lane],
    ...(afterMs > 0 && { startAfter: Math.ceil(afterMs / 1000) }),
    ...(tx && { db: fromDrizzle(tx, sql) }),
  });
}

/** Lets a lane's waiting job start at once, where it rests after a failure or was put back. */
export async function bringForward(db: Database, boss: PgBoss, lane: FeedLane): Promise<void> {
  await db.execute(sql`
    update etl.runs set due_at = clock_timestamp() where ${ofLane(lane)} and state = 'open'
  `);
  await boss.update(sliceQueue, undefined, { singletonKey: keyOf(lane), startAfter: 0 });
}

/**
 * Ends a slice's job and, while the lane has an open run, queues the next one in the same
 * transaction. Every slice ends here, the last of a run too: a run that was opened meanwhile
 * found this job in its place, could queue none, and would wait for the next schedule. When the job
 * is no longer this worker's, because it was taken over, nothing is queued.
 */
export async function chainSlice(
  boss: PgBoss,
  tx: Transaction,
  job: { readonly id: string; readonly retryCount: number; readonly data: FeedLane },
  afterMs: number,
): Promise<void> {
  const attempt = { id: job.id, retryCount: job.retryCount };
  const done = await boss.complete(sliceQueue, attempt, null, { db: fromDrizzle(tx, sql) });
  // pg-boss 12.35 answers with the count, but declares an empty type.
  if ((done as { affected: number }).affected === 0) return;
  const { rows } = await tx.execute(sql`
    update etl.runs
    set taken_up_at = null, due_at = clock_timestamp() + ${afterMs} * interval '1 millisecond'
    where ${ofLane(job.data)} and state = 'open'
    returning id
  `);
  if (rows.length > 0) await sendSlice(boss, job.data, { tx, afterMs });
}
