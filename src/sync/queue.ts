import { sql } from 'drizzle-orm';
import { fromDrizzle, type JobWithMetadata, PgBoss } from 'pg-boss';
import { describeDatabaseError } from '../db/failure.ts';
import { connectionConfig, type DatabaseTimeouts, workTimeouts } from '../db/pool.ts';
import { execute, type Database, transact, type Transaction } from '../db/transaction.ts';
import { type FailureRule, failures } from '../failure.ts';
import { type FeedLane, isPaused, laneName, ofLane } from '../lists/feed.ts';
import type { Target } from '../lists/list.ts';
import type { Log } from '../log.ts';
import { signals } from '../signals.ts';
import { type OpenedRun, openRun } from './runs.ts';

/** A slice of a lane's work. At most one job for each lane, queued or active. */
export const sliceQueue = 'slices';

/**
 * A slice ends by its own budget within seconds, and a dead worker is found by its lock or its silence; this is
 * the last resort against a job that hangs, in seconds.
 */
const expireSeconds = 3600;

/** In seconds; a job's worker counts as lost after this silence. A slice may keep its process busy. */
const silenceSeconds = 30;
/** How often such workers are looked for, in seconds. */
const superviseSeconds = 5;

/** A takeover uses up a retry, and a lane may be taken over any number of times. */
const unlimitedRetries = 1_000_000;

/** Finished jobs say nothing that the ledger does not; kept to be inspected, in seconds. */
const keepFinishedSeconds = 3600;

/** Connections of pg-boss's own pool: one statement fetches for all slices. */
export const bossConnections = 2;

export interface BossOptions {
  readonly databaseUrl: string;
  /** Whether a pooler is in between, which may refuse settings at a session's start. */
  readonly isPooled?: boolean;
  readonly log: Log;
  /** Receives every failure of pg-boss. */
  readonly report?: (error: unknown) => void;
  /** How long the database may take; `workTimeouts` if absent. */
  readonly dbTimeouts?: DatabaseTimeouts;
}

/**
 * pg-boss hands these to its pool. It runs each statement on a connection taken for it alone, which
 * is closed when `query_timeout` passes.
 */
const bossConfig = ({
  databaseUrl: url,
  isPooled = false,
  dbTimeouts = workTimeouts,
}: Pick<BossOptions, 'databaseUrl' | 'isPooled' | 'dbTimeouts'>) => ({
  ...connectionConfig({
    url,
    isPooled,
    dbTimeouts,
    max: bossConnections,
    applicationName: 'explorer-etl jobs',
  }),
  schema: 'pgboss',
});

/** pg-boss on an installed schema: it creates and migrates nothing, so it needs no right to. */
export async function startBoss(options: BossOptions): Promise<PgBoss> {
  const { log, report } = options;
  const boss = new PgBoss({
    ...bossConfig(options),
    migrate: false,
    createSchema: false,
    superviseIntervalSeconds: superviseSeconds,
    monitorIntervalSeconds: superviseSeconds,
    schedule: false,
  });
  // pg-boss reports a lost connection here and reconnects by itself.
  boss.on('error', (error) => {
    log.write('queue.failure', { error: describeDatabaseError(error) });
    report?.(error);
  });
  await startOrStop(boss);
  return boss;
}

/** A start that fails half-way leaves timers and a listener, which would keep the process alive for ever. */
async function startOrStop(boss: PgBoss): Promise<void> {
  try {
    await boss.start();
  } catch (error) {
    await boss.stop({ graceful: false });
    throw error;
  }
}

/**
 * Installs or migrates pg-boss's schema and our queue. Several processes at once are safe. Its
 * transactions are each one message, so any pooler will do.
 */
export async function installQueues(databaseUrl: string): Promise<void> {
  const boss = new PgBoss({
    ...bossConfig({ databaseUrl, isPooled: true }),
    supervise: false,
    schedule: false,
  });
  let failure: Error | null = null;
  boss.on('error', (error) => {
    failure = error;
  });
  await startOrStop(boss);
  try {
    await boss.createQueue(sliceQueue, {
      policy: 'exclusive',
      heartbeatSeconds: silenceSeconds,
      retryLimit: unlimitedRetries,
      expireInSeconds: expireSeconds,
      deleteAfterSeconds: keepFinishedSeconds,
    });
  } finally {
    await boss.stop({ graceful: false });
  }
  if (failure !== null) throw failure;
}

/**
 * Opens a lane's run and queues its slice now, even if its job backs off after a failure. A kill in
 * between is harmless: runs are joined.
 * @returns null if a run with other bounds is open and `onOther` says that it goes first
 */
export async function openLane(
  db: Database,
  boss: PgBoss,
  { lane, scope }: Target,
  onOther: 'supersede' | 'yield' = 'supersede',
): Promise<OpenedRun | null> {
  const run = await openRun(db, lane, scope, onOther);
  if (run === null) return null;
  // A waiting job starts at once, where it rests after a failure or was put back.
  await db.execute(sql`
    update etl.runs set due_at = clock_timestamp() where ${ofLane(lane)} and state = 'open'
  `);
  await boss.update(sliceQueue, undefined, { singletonKey: laneName(lane), startAfter: 0 });
  await sendSlice(boss, lane);
  signals.emit('queued');
  return run;
}

const ofHost = Object.entries<FailureRule>(failures).flatMap(([name, { isOfHost }]) =>
  isOfHost === true ? [name] : [],
);

/** Ends the waits of lanes that an explorer made wait: it answers again. */
export async function wakeLanes(db: Database, boss: PgBoss, origin: string): Promise<void> {
  const keys = await execute(db).values<string>`
    update etl.runs
    set due_at = clock_timestamp(),
        waited_ms = greatest(0, waited_ms - 1000 * extract(epoch from due_at - clock_timestamp()))
    from etl.feeds
    where feeds.feed = runs.feed and origin = ${origin}
      and feeds.failure = any(${sql.param(ofHost)}::text[])
      and runs.state = 'open' and due_at > clock_timestamp()
    returning runs.feed || '/' || lane as key
  `;
  for (const singletonKey of keys) {
    await boss.update(sliceQueue, undefined, { singletonKey, startAfter: 0 });
  }
  signals.emit('queued');
}

/** Queues a slice of a lane, unless one is queued or active already: its key makes sure. */
export async function sendSlice(
  boss: PgBoss,
  { chain_id, operation, lane }: FeedLane,
  { tx, afterMs = 0 }: { readonly tx?: Transaction; readonly afterMs?: number } = {},
): Promise<void> {
  const data: FeedLane = { chain_id, operation, lane };
  const sent = await boss.send(sliceQueue, data, {
    singletonKey: laneName(data),
    // What is new is taken up before what is old, where both wait for a worker.
    priority: lane === 'live' ? 1 : 0,
    ...(afterMs > 0 && { startAfter: Math.ceil(afterMs / 1000) }),
    ...(tx && { db: fromDrizzle(tx, sql) }),
  });
  if (sent !== null && tx === undefined) signals.emit('queued');
}

/**
 * Ends a slice's job and, while the lane has an open run and is not paused, queues the next one in the same
 * transaction. Every slice ends here, even the last of a run: a run opened meanwhile could queue no
 * job beside this one, and would wait for the next schedule. If another worker took over the job,
 * nothing is queued.
 */
export async function chainSlice(
  { db, boss }: { readonly db: Database; readonly boss: PgBoss },
  job: JobWithMetadata<FeedLane>,
  afterMs: number,
): Promise<void> {
  await transact(db, async (tx) => {
    const { id, retryCount } = job;
    const done = await boss.complete(sliceQueue, { id, retryCount }, null, {
      db: fromDrizzle(tx, sql),
    });
    // pg-boss 12.35 answers with the count, but declares an empty type.
    if ((done as { affected: number }).affected === 0) return;
    const goesOn = await execute(tx).value<boolean>`
      update etl.runs
      set taken_up_at = null, stopped_at = case when lane_is.paused then now() else stopped_at end,
          due_at = case when not lane_is.paused then clock_timestamp() + ${afterMs} * interval '1 millisecond' end,
          waited_ms = waited_ms + ${Math.round(afterMs)}
      from (select ${isPaused(job.data)} as paused) as lane_is
      where ${ofLane(job.data)} and state = 'open'
      returning not lane_is.paused
    `;
    if (goesOn === true) await sendSlice(boss, job.data, { tx, afterMs });
  });
}
