import { isDeepStrictEqual } from 'node:util';
import type { PgBoss } from 'pg-boss';
import type { Database } from '../db/transaction.ts';
import { dueLanes } from '../feeds/due.ts';
import type { FeedLane } from '../lists/feed.ts';
import type { RunScope } from '../lists/tables.ts';
import { dropRun, openRun, type OpenedRun } from '../feeds/run.ts';
import { runQueue } from './boss.ts';
import { bringForward, sendSlice } from './send.ts';

/** When a lane gets its runs, and what each covers. */
export interface LaneSchedule {
  readonly lane: FeedLane;
  readonly cron: string;
  readonly timezone: string;
  readonly scope: RunScope;
}

interface RunJob {
  readonly lane: FeedLane;
  readonly scope: RunScope;
}

/** How often runs are looked for, in seconds. Notified, a worker would leave it at 30 s by itself. */
const pollSeconds = 1;

/** Runs taken up at once: those of a minute come together, and one notification stands for many. */
const runsAtOnce = 50;

const keyOf = ({ chain_id, operation, lane }: FeedLane) => `${chain_id}.${operation}.${lane}`;

/**
 * Makes the database's schedules those of the configuration: new ones are added, changed ones
 * replaced, those no longer named are removed. A run missed while no process ran comes once. The
 * open runs of lanes that are gone, or that cover something else now, are set aside before: whoever
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
  for (const { key, data } of await boss.getSchedules(runQueue)) {
    const { lane, scope } = data as RunJob;
    if (isDeepStrictEqual(wanted.get(key)?.scope, scope)) {
      kept.add(key);
      continue;
    }
    // What it has sent and nobody has answered yet.
    const waiting = await boss.findJobs(runQueue, { key, queued: true });
    if (waiting.length > 0)
      await boss.deleteJob(
        runQueue,
        waiting.map(({ id }) => id),
      );
    await dropRun(db, lane, scope);
    if (!wanted.has(key)) await boss.unschedule(runQueue, key);
  }
  for (const { lane, cron, timezone, scope } of schedules) {
    const data: RunJob = { lane, scope };
    await boss.schedule(runQueue, cron, data, {
      key: keyOf(lane),
      tz: timezone,
      missed: 'once',
      singletonKey: keyOf(lane),
    });
  }
  return schedules.filter(({ lane }) => !kept.has(keyOf(lane)));
}

/**
 * Opens a lane's run and queues its slice, now: a job that rests after a failure is brought
 * forward. Both happen or neither matters: runs are joined.
 */
export async function openLane(
  db: Database,
  boss: PgBoss,
  lane: FeedLane,
  scope: RunScope,
): Promise<OpenedRun> {
  const run = await openRun(db, lane, scope);
  if (run === null) throw new Error('a run that supersedes others is always opened');
  await bringForward(db, boss, lane);
  await sendSlice(boss, lane);
  return run;
}

/** As `openLane`, but where a person's run with other bounds is open, that one goes first. */
export async function openLaneInTurn(
  db: Database,
  boss: PgBoss,
  { lane, scope }: Pick<LaneSchedule, 'lane' | 'scope'>,
): Promise<void> {
  if ((await openRun(db, lane, scope, 'yield')) === null) return;
  await bringForward(db, boss, lane);
  await sendSlice(boss, lane);
}

interface RunDependencies {
  readonly db: Database;
  readonly boss: PgBoss;
  readonly clock: () => Date;
}

/** Opens the runs that schedules ask for, until the boss stops. */
export async function workOnRuns({ db, boss, clock }: RunDependencies): Promise<void> {
  const options = {
    pollingIntervalSeconds: pollSeconds,
    notifyPollingIntervalSeconds: pollSeconds,
    batchSize: runsAtOnce,
    burstWhenBatchFull: true,
  };
  await boss.work<RunJob>(runQueue, options, async (jobs) => {
    for (const { data } of jobs) await answerRun(db, boss, data, clock());
  });
}

async function answerRun(db: Database, boss: PgBoss, job: RunJob, at: Date): Promise<void> {
  for (const { lane, scope } of await dueLanes(db, [job], 'schedule', at)) {
    if ((await openRun(db, lane, scope, 'yield')) !== null) await sendSlice(boss, lane);
  }
}
