import { setTimeout as delay } from 'node:timers/promises';
import { sql } from 'drizzle-orm';
import { describeDatabaseError } from '../db/failure.ts';
import type { Database } from '../db/transaction.ts';
import { dueLanes } from '../feeds/due.ts';
import type { FeedLane } from '../feeds/feed.ts';
import { openLane, setSchedules, workOnTicks, type LaneSchedule } from './schedule.ts';
import { sendSlice } from './send.ts';
import { startWorker, type WorkerOptions } from './worker.ts';

export type ServeOptions = Omit<WorkerOptions, 'works' | 'onTrouble'>;

/**
 * Works until the signal aborts: sets the schedules, takes up every open tick, starts what
 * has no schedule to wait for, and works on slices. Any number of processes share the work.
 */
export async function serve(
  schedules: readonly LaneSchedule[],
  options: ServeOptions,
  signal: AbortSignal,
): Promise<void> {
  const { db, boss } = options;
  await setSchedules(boss, schedules);
  for (const { lane, scope } of await dueLanes(db, schedules, 'start')) {
    await openLane(db, boss, lane, scope);
  }
  await workOnTicks(db, boss);
  const worker = await startWorker({ ...options, works: () => true, onTrouble: 'come-back' });
  await nudgeOpenLanes(options, signal);
  await worker.stop();
}

/** How often lanes with an open tick are looked after, in ms. */
const nudgeIntervalMs = 2_000;

/**
 * Until the signal aborts, queues a slice for each lane whose tick is open. Where a job is there
 * already nothing happens; where it was lost, with the process that held it or because a tick was
 * opened at the moment the lane's last slice ended, the lane goes on.
 */
async function nudgeOpenLanes({ db, boss, log }: ServeOptions, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      for (const lane of await openLanes(db)) await sendSlice(boss, lane);
    } catch (error) {
      log.warn({ error: describeDatabaseError(error) }, 'nudge.trouble');
    }
    await delay(nudgeIntervalMs, undefined, { signal }).catch(() => undefined);
  }
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
