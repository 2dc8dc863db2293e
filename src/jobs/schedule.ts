import type { PgBoss } from 'pg-boss';
import type { Database } from '../db/transaction.ts';
import { dueLanes } from '../feeds/due.ts';
import type { FeedLane } from '../feeds/feed.ts';
import type { TickScope } from '../feeds/tables.ts';
import { openTick, type OpenedTick } from '../feeds/tick.ts';
import { tickQueue } from './boss.ts';
import { bringForward, sendSlice } from './send.ts';

/** When a lane gets its ticks, and what each covers. */
export interface LaneSchedule {
  readonly lane: FeedLane;
  readonly cron: string;
  readonly timezone: string;
  readonly scope: TickScope;
}

interface TickJob {
  readonly lane: FeedLane;
  readonly scope: TickScope;
}

const pollSeconds = 1;

const keyOf = ({ chain_id, operation, lane }: FeedLane) => `${chain_id}.${operation}.${lane}`;

/**
 * Makes the database's schedules those of the configuration: new ones are added, changed ones
 * replaced, those no longer named are removed. A tick missed while no process ran comes once.
 */
export async function setSchedules(
  boss: PgBoss,
  schedules: readonly LaneSchedule[],
): Promise<void> {
  const wanted = new Set(schedules.map(({ lane }) => keyOf(lane)));
  for (const { key } of await boss.getSchedules(tickQueue)) {
    if (!wanted.has(key)) await boss.unschedule(tickQueue, key);
  }
  for (const { lane, cron, timezone, scope } of schedules) {
    const data: TickJob = { lane, scope };
    await boss.schedule(tickQueue, cron, data, {
      key: keyOf(lane),
      tz: timezone,
      missed: 'once',
      singletonKey: keyOf(lane),
    });
  }
}

/**
 * Opens a lane's tick and queues its slice, now: a job that rests after a trouble is brought
 * forward. Both happen or neither matters: ticks are joined.
 */
export async function openLane(
  db: Database,
  boss: PgBoss,
  lane: FeedLane,
  scope: TickScope,
): Promise<OpenedTick> {
  const tick = await openTick(db, lane, scope);
  if (tick === null) throw new Error('a tick that supersedes others is always opened');
  await bringForward(db, lane);
  await sendSlice(boss, lane);
  return tick;
}

/** Answers the schedules' ticks until the boss stops. */
export async function workOnTicks(db: Database, boss: PgBoss): Promise<void> {
  await boss.work<TickJob>(tickQueue, { pollingIntervalSeconds: pollSeconds }, async ([job]) => {
    if (job === undefined) return;
    for (const { lane, scope } of await dueLanes(db, [job.data], 'tick')) {
      if ((await openTick(db, lane, scope, 'yield')) !== null) await sendSlice(boss, lane);
    }
  });
}
