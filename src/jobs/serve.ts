import { sql } from 'drizzle-orm';
import { once } from 'node:events';
import type { Database } from '../db/transaction.ts';
import type { FeedLane } from '../feeds/feed.ts';
import { openLane, setSchedules, workOnTicks, type LaneSchedule } from './schedule.ts';
import { sendSlice } from './send.ts';
import { startWorker, type WorkerOptions } from './worker.ts';

export type ServeOptions = Omit<WorkerOptions, 'works' | 'onTrouble'>;

/**
 * Works until the signal aborts: sets the schedules, takes up every open tick, starts feeds that
 * never succeeded, and works on slices. Any number of processes share the work.
 */
export async function serve(
  schedules: readonly LaneSchedule[],
  options: ServeOptions,
  signal: AbortSignal,
): Promise<void> {
  const { db, boss } = options;
  await setSchedules(boss, schedules);
  for (const lane of await openLanes(db)) await sendSlice(boss, lane);
  for (const { lane, scope } of await withoutSuccess(db, schedules)) {
    await openLane(db, boss, lane, scope);
  }
  await workOnTicks(db, boss);
  const worker = await startWorker({ ...options, works: () => true, onTrouble: 'come-back' });
  if (!signal.aborted) await once(signal, 'abort');
  await worker.stop();
}

/** Lanes whose tick is open: their job may have been lost with the process that held it. */
async function openLanes(db: Database): Promise<FeedLane[]> {
  const { rows } = await db.execute<{ lane: FeedLane }>(sql`
    select json_build_object('chain_id', chain_id, 'operation', operation, 'lane', lane) as lane
    from etl.ticks
    where state = 'open'
  `);
  return rows.map(({ lane }) => lane);
}

/** A feed that never succeeded has nothing to wait for; others wait for their schedule. */
async function withoutSuccess(
  db: Database,
  schedules: readonly LaneSchedule[],
): Promise<LaneSchedule[]> {
  const { rows } = await db.execute<{ feed: string }>(
    sql`select feed from etl.feeds where last_success_at is not null`,
  );
  const succeeded = new Set(rows.map(({ feed }) => feed));
  return schedules.filter(({ lane }) => !succeeded.has(`${lane.chain_id}/${lane.operation}`));
}
