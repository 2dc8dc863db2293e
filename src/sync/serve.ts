import { eq, sql } from 'drizzle-orm';
import { describeDatabaseError } from '../db/failure.ts';
import { events, maintenance } from '../db/tables.ts';
import type { Database } from '../db/transaction.ts';
import { pruneLedger } from '../lists/prune.ts';
import { rollUp } from '../rollups/roll.ts';
import { every } from '../time.ts';
import { expireArchive } from './archive.ts';
import { type ConfiguredLane, dueScope } from './feeds.ts';
import { type HostChanged, signals } from '../signals.ts';
import { openDue, scheduleLanes } from './lanes.ts';
import { openLane, wakeLanes } from './queue.ts';
import { faultOf } from './failures.ts';
import { noteStopped } from './runs.ts';
import { linkAbort } from './walk.ts';
import { startWorker, type WorkerOptions } from './worker.ts';

export type ServeOptions = Omit<WorkerOptions, 'works' | 'kind'> & MaintenanceOptions;

/** Called every few seconds when a round begins, and if it succeeds once more with true. */
export type OnRound = (isDone: boolean) => void;

/**
 * Works until the signal aborts: opens runs by schedule, takes up open ones, and works on slices; any number of processes may.
 * @throws the fault of the database that `options.broken` names
 */
export async function serve(
  schedules: readonly ConfiguredLane[],
  options: ServeOptions,
  signal: AbortSignal,
  onRound: OnRound = () => undefined,
): Promise<void> {
  const { db, boss, log, broken, origin } = options;
  using end = linkAbort(signal, broken);
  await scheduleLanes(db, schedules, options.deployment);
  // What has no schedule to wait for.
  for (const { lane, scope } of schedules) {
    const due = await dueScope(db, { lane, scope }, 'start', options.clock());
    if (due !== null) await openLane(db, boss, { lane, scope: due }, 'yield');
  }
  await db.execute(sql`
    update etl.feeds set failure = null, reason = null
    where failure like 'database-%' and origin = ${origin}
  `);
  // The key of this process may do; if it does not, one request shows so.
  await wakeLanes(db, boss, origin, 'key');
  const worker = startWorker({ ...options, works: () => true, kind: 'start' });
  const onHost = ({ by, failing }: HostChanged) => {
    if (by !== options.pool) return;
    if (failing !== null) return log.write('explorer.unreachable', { url: origin, ...failing });
    log.write('explorer.back', { url: origin });
    // What fails here is woken by its own time.
    void wakeLanes(db, boss, origin, 'host').catch(() => undefined);
  };
  signals.on('host', onHost);
  try {
    await Promise.all([
      checkRegularly(options, onRound, end.signal),
      every(intervalMs, end.signal, () => tidyUp(options, end.signal)),
      keepSums(options, end.signal),
    ]);
  } finally {
    signals.off('host', onHost);
    await worker.stop();
  }
  if (broken.aborted) await noteFault(db, origin, broken.reason).catch(() => undefined);
  broken.throwIfAborted();
  const sentence = 'A start was stopped. What was read is kept.';
  // Where the database is away, this stop looks like a kill; the log has the event too.
  const noted = db.insert(events).values({ kind: 'stopped', sentence });
  await noted.catch(() => undefined);
  await noteStopped(db, 'all').catch(() => undefined);
}

/** Shows other processes a fault of the database, if it can still be written. */
async function noteFault(db: Database, origin: string, error: unknown): Promise<void> {
  const { failure, reason } = faultOf(error).feedFailure;
  await db.execute(sql`
    update etl.feeds set failure = ${failure}, reason = ${reason}
    where reason is null and origin = ${origin}
  `);
}

/** How often schedules are looked at, in ms. */
const pollIntervalMs = 3_000;

/** Opens runs that are due until the signal aborts. */
async function checkRegularly(
  options: ServeOptions,
  onRound: OnRound,
  signal: AbortSignal,
): Promise<void> {
  const { log, report } = options;
  let isAway = false;
  const poll = async () => {
    onRound(false);
    await openDue(options);
    if (isAway) log.write('database.back', {});
    isAway = false;
    onRound(true);
  };
  await every(pollIntervalMs, signal, poll, (error) => {
    isAway = true;
    log.write('schedule.failure', { error: describeDatabaseError(error) });
    report(error);
  });
}

/** What is tidied up, and by which clock. */
export interface MaintenanceOptions extends Pick<WorkerOptions, 'db' | 'now' | 'log' | 'clock'> {
  /** How long archived bodies are kept, in days; null: for ever. */
  readonly archiveDays: number | null;
  /** How long walks that brought nothing stay in the ledger, in days; null: for ever. */
  readonly ledgerDays: number | null;
}

/** Retention is given in days, so an hour more or less is nothing; in ms. */
const intervalMs = 3_600_000;
/** How often it is checked whether sums are due, in ms. */
const sumsIntervalMs = 2_000;

/** How long sums wait after they were brought up to date: in times of what that took, within bounds in ms. */
const sumsPause = { ms: 60_000, times: 20, mostMs: 900_000 };

/** Keeps sums up to date until the signal aborts: once a minute, or less often where that took a twentieth of the time. */
export function keepSums(
  { db, log, now }: Pick<MaintenanceOptions, 'db' | 'log' | 'now'>,
  signal: AbortSignal,
  { firstMs, pauseMs } = { firstMs: 0, pauseMs: sumsPause.ms },
): Promise<void> {
  let dueMs = now() + firstMs;
  const poll = async () => {
    const begun = now();
    if (begun < dueMs) return;
    await attempt('sums', { db, log }, () => rollUp({ db, now }, signal));
    const pacedMs = sumsPause.times * (now() - begun);
    dueMs = now() + Math.min(Math.max(pauseMs, pacedMs), sumsPause.mostMs);
  };
  return every(sumsIntervalMs, signal, poll);
}

/** How long a command works before it first sums up, and waits after each time, in ms: most end before. */
const commandSumsMs = 10_000;

/** Keeps the sums while a command works: one that is killed leaves them a few seconds old. */
export async function besideSums<T>(
  options: Pick<MaintenanceOptions, 'db' | 'log' | 'now'>,
  signal: AbortSignal,
  work: () => Promise<T>,
): Promise<T> {
  using end = linkAbort(signal);
  const pace = { firstMs: commandSumsMs, pauseMs: commandSumsMs };
  const kept = keepSums(options, end.signal, pace);
  const result = await work().finally(() => end.abort(new Error('the command ended')));
  // After a failure nothing waits for a database that may be silent.
  await kept;
  return result;
}

/** How long a terminal stays silent before a notice, in ms. */
const patienceMs = 5_000;

/** Brings sums of what is stored up to date once. A failure is logged: the views say up to when they are. */
export async function sumUp(
  { db, log, now }: Pick<MaintenanceOptions, 'db' | 'log' | 'now'>,
  signal: AbortSignal,
): Promise<void> {
  const notice = setTimeout(() => log.write('sums.long', {}), patienceMs);
  await attempt('sums', { db, log }, () => rollUp({ db, now }, signal));
  clearTimeout(notice);
}

/** How long events are kept; as SQL. */
const keptFor = sql`interval '31 days'`;

/** Tidies up once: old events, archived bodies and walks that brought nothing, and notes of edited batches. */
export const tidyUp = (
  { db, log, clock, archiveDays, ledgerDays }: MaintenanceOptions,
  signal: AbortSignal,
): Promise<void> =>
  attempt('housekeeping', { db, log }, async () => {
    await db.execute(sql`delete from etl.events where at < now() - ${keptFor}`);
    await db.execute(sql`select etl.prune_edits()`);
    const pages = await expireArchive(db, archiveDays, clock(), signal);
    if (pages > 0) log.write('archive.expired', { pages });
    const pruned = await pruneLedger(db, ledgerDays, clock(), signal);
    if (pruned.walks > 0) log.write('ledger.pruned', { ...pruned });
  });

/** Works on a task beside the pages. Its failure is logged, and a reason of `status` until it succeeds. */
async function attempt(
  task: (typeof maintenance.$inferSelect)['task'],
  { db, log }: Pick<MaintenanceOptions, 'db' | 'log'>,
  work: () => Promise<unknown>,
): Promise<void> {
  try {
    await work();
    await db.delete(maintenance).where(eq(maintenance.task, task));
  } catch (error) {
    const reason = describeDatabaseError(error);
    log.write(`${task}.failure`, { error: reason });
    const noted = db.insert(maintenance).values({ task, reason });
    // A database that takes no row is its own reason.
    await noted
      .onConflictDoUpdate({ target: maintenance.task, set: { reason } })
      .catch(() => undefined);
  }
}
