import { sql } from 'drizzle-orm';
import { describeDatabaseError } from '../db/failure.ts';
import type { Database } from '../db/transaction.ts';
import { every } from '../every.ts';
import { dueLanes } from '../feeds/due.ts';
import { noteStopped } from '../feeds/run.ts';
import type { FeedLane } from '../lists/feed.ts';
import { runQueue } from './boss.ts';
import { keepHouse, keepSums, type HouseOptions } from './housekeeping.ts';
import { openLaneInTurn, setSchedules, workOnRuns, type LaneSchedule } from './schedule.ts';
import { sendSlice } from './send.ts';
import { presentWorkers } from './takeover.ts';
import { startWorker, type WorkerOptions } from './worker.ts';

export type ServeOptions = Omit<WorkerOptions, 'works' | 'onFailure'> & HouseOptions;

/** What `serve` is asked and told meanwhile. */
export interface ServeHooks {
  readonly changes?: ScheduleChanges;
  /** Told at each of its rounds, every few seconds. */
  readonly onRound?: () => void;
}

/** Asked now and then: the schedules of a configuration that was read anew; null where none was. */
export type ScheduleChanges = () => Promise<readonly LaneSchedule[] | null>;

/**
 * Works until the signal aborts: sets the schedules, takes up every open run, starts what
 * has no schedule to wait for, and works on slices. Any number of processes share the work.
 */
export async function serve(
  schedules: readonly LaneSchedule[],
  options: ServeOptions,
  signal: AbortSignal,
  { changes = async () => null, onRound = () => undefined }: ServeHooks = {},
): Promise<void> {
  const { db, boss } = options;
  await setSchedules(db, boss, schedules);
  await openDue(schedules, options);
  const worker = await startWorker({ ...options, works: () => true, onFailure: 'come-back' });
  await workOnRuns(options);
  await Promise.all([
    checkRegularly(options, { changes, onRound }, signal),
    keepHouse(options, signal),
    keepSums(options, signal),
  ]);
  await boss.offWork(runQueue, { wait: true });
  await worker.stop();
  // Those too that waited for their turn, where no other process works: they are its own. Where the database is
  // away, nobody can tell this stop from a kill.
  await noteLastStop(db).catch(() => undefined);
}

async function noteLastStop(db: Database): Promise<void> {
  const { start, once } = await presentWorkers(db);
  if (start + once === 0) await noteStopped(db, 'all');
}

/** Starts what has no schedule to wait for. */
async function openDue(
  schedules: readonly LaneSchedule[],
  { db, boss, clock }: ServeOptions,
): Promise<void> {
  for (const due of await dueLanes(db, schedules, 'start', clock())) {
    await openLaneInTurn(db, boss, due);
  }
}

/** How often open lanes and the configuration are looked after, in ms. */
const pollIntervalMs = 2_000;

/**
 * Until the signal aborts, puts a changed configuration in force, and queues a slice for each lane whose run is open. Where a job is there already nothing happens; where it was lost, with the
 * process that held it or because a run was opened at the moment the lane's last slice ended, the
 * lane goes on.
 */
async function checkRegularly(
  options: ServeOptions,
  { changes, onRound }: Required<ServeHooks>,
  signal: AbortSignal,
): Promise<void> {
  const { db, boss, log } = options;
  let isAway = false;
  // Kept until it is in force, however often the database is away meanwhile.
  let wanted: readonly LaneSchedule[] | null = null;
  const poll = async () => {
    onRound();
    wanted = (await changes()) ?? wanted;
    if (wanted !== null) {
      await openDue(await setSchedules(db, boss, wanted), options);
      wanted = null;
    }
    for (const lane of await openLanes(db)) await sendSlice(boss, lane);
    if (isAway) log.tell('database.back', {});
    isAway = false;
  };
  await every(pollIntervalMs, signal, poll, (error) => {
    isAway = true;
    log.tell('nudge.failure', { error: describeDatabaseError(error) });
  });
}

/** Lanes whose run is open: their job may have been lost with the process that held it. One that was let go of is due. */
async function openLanes(db: Database): Promise<FeedLane[]> {
  const { rows } = await db.execute<{ lane: FeedLane }>(sql`
    with taken_on as (
      update etl.runs set due_at = clock_timestamp()
      where state = 'open' and due_at is null and taken_up_at is null
    )
    select json_build_object('chain_id', chain_id, 'operation', operation, 'lane', lane) as lane
    from etl.runs
    where state = 'open'
  `);
  return rows.map(({ lane }) => lane);
}
