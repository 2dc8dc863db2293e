import { isDeepStrictEqual } from 'node:util';
import type { PgBoss } from 'pg-boss';
import type { Database } from '../db/transaction.ts';
import { dueLanes } from '../feeds/due.ts';
import type { FeedLane } from '../lists/feed.ts';
import type { TickScope } from '../lists/tables.ts';
import { dropTick, openTick, type OpenedTick } from '../feeds/tick.ts';
import { tickQueue } from './boss.ts';
import { dropWaiting } from './boss-tables.ts';
import { bringForward, sendSlice } from './send.ts';
import type { JobLocks } from './takeover.ts';

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

/** How often ticks are looked for, in seconds. Notified, a worker would leave it at 30 s by itself. */
const pollSeconds = 1;

/** Ticks taken up at once: those of a minute come together, and one notification stands for many. */
const ticksAtOnce = 50;

const keyOf = ({ chain_id, operation, lane }: FeedLane) => `${chain_id}.${operation}.${lane}`;

/**
 * Makes the database's schedules those of the configuration: new ones are added, changed ones
 * replaced, those no longer named are removed. A tick missed while no process ran comes once. The
 * open ticks of lanes that are gone, or that cover something else now, are set aside before: whoever
 * is killed in between finds the schedule still there and does it again.
 *
 * @returns the lanes that had no schedule of this scope before
 */
export async function setSchedules(
  db: Database,
  boss: PgBoss,
  schedules: readonly LaneSchedule[],
): Promise<LaneSchedule[]> {
  const wanted = new Map(schedules.map((schedule) => [keyOf(schedule.lane), schedule]));
  const kept = new Set<string>();
  for (const { key, data } of await boss.getSchedules(tickQueue)) {
    const { lane, scope } = data as TickJob;
    if (isDeepStrictEqual(wanted.get(key)?.scope, scope)) {
      kept.add(key);
      continue;
    }
    // What it has sent and nobody has answered yet.
    await dropWaiting(db, tickQueue, key);
    await dropTick(db, lane, scope);
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
  return schedules.filter(({ lane }) => !kept.has(keyOf(lane)));
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

/** As `openLane`, but where a person's tick with other bounds is open, that one goes first. */
export async function openLaneInTurn(
  db: Database,
  boss: PgBoss,
  { lane, scope }: Pick<LaneSchedule, 'lane' | 'scope'>,
): Promise<void> {
  if ((await openTick(db, lane, scope, 'yield')) === null) return;
  await bringForward(db, lane);
  await sendSlice(boss, lane);
}

interface TickDependencies {
  readonly db: Database;
  readonly boss: PgBoss;
  readonly clock: () => Date;
}

/** Answers the schedules' ticks until the boss stops. `locks` show to others that they are at work. */
export async function workOnTicks(
  { db, boss, clock }: TickDependencies,
  locks: JobLocks,
): Promise<void> {
  const options = {
    pollingIntervalSeconds: pollSeconds,
    notifyPollingIntervalSeconds: pollSeconds,
    batchSize: ticksAtOnce,
    burstWhenBatchFull: true,
  };
  await boss.work<TickJob>(tickQueue, options, async (jobs) => {
    const ids = jobs.map(({ id }) => id);
    await Promise.all(ids.map((id) => locks.hold(id)));
    try {
      for (const { data } of jobs) await answerTick(db, boss, data, clock());
    } finally {
      await Promise.allSettled(ids.map((id) => locks.release(id)));
    }
  });
}

async function answerTick(db: Database, boss: PgBoss, job: TickJob, at: Date): Promise<void> {
  for (const { lane, scope } of await dueLanes(db, [job], 'tick', at)) {
    if ((await openTick(db, lane, scope, 'yield')) !== null) await sendSlice(boss, lane);
  }
}
