import { sql } from 'drizzle-orm';
import { fromDrizzle, PgBoss, type ConstructorOptions } from 'pg-boss';
import {
  keepAliveDelayMs,
  settingsFor,
  withSettings,
  workTimeouts,
  type DatabaseTimeouts,
} from '../db/timeouts.ts';
import { describeDatabaseError } from '../db/failure.ts';
import type { Database } from '../db/transaction.ts';
import type { FeedLane } from '../lists/feed.ts';
import type { Log } from '../log.ts';

/** A slice of a lane's work. At most one job for each lane, queued or active. */
export const sliceQueue = 'slices';
/** What a schedule sends: open a run for a lane. */
export const runQueue = 'runs';

/**
 * A slice ends by its own budget within seconds, and a dead worker is found by its lock or its silence; this is
 * the last resort against a job that hangs, in seconds.
 */
const expireSeconds = 3600;

/** After so long a silence a job's worker counts as gone, in seconds: a slice may keep its process busy for a while. */
const silenceSeconds = { slice: 30, run: 10 } as const;
/** How often such workers are looked for, in seconds. */
const superviseSeconds = 5;

/** A takeover uses up a retry, and a lane may be taken over any number of times. */
const unlimitedRetries = 1_000_000;

/** Finished jobs say nothing that the ledger does not; kept to be inspected, in seconds. */
const keepFinishedSeconds = 3600;

/** Connections of pg-boss's own pool: fetching, completing, the listener. */
const bossConnections = 4;

export interface BossOptions {
  /** Where a session is kept: pg-boss listens. */
  readonly databaseUrl: string;
  /** Whether a pooler is in between, which may refuse what a session is told at its beginning. */
  readonly isPooled?: boolean;
  readonly log: Log;
  /** Whether this process sends what schedules say; any number of processes may. */
  readonly supervise: boolean;
  /** How long the database may take; `workTimeouts` if absent. */
  readonly dbTimeouts?: DatabaseTimeouts;
}

/** pg-boss on an installed schema: it creates and migrates nothing, so it needs no right to. */
export async function startBoss(options: BossOptions): Promise<PgBoss> {
  const { databaseUrl, isPooled = false, log, supervise, dbTimeouts } = options;
  const boss = new PgBoss({
    ...connection(databaseUrl, isPooled, dbTimeouts),
    migrate: false,
    createSchema: false,
    superviseIntervalSeconds: superviseSeconds,
    monitorIntervalSeconds: superviseSeconds,
    schedule: supervise,
    useListenNotify: true,
  });
  // pg-boss reports a lost connection here and reconnects by itself.
  boss.on('error', (error) => log.tell('queue.failure', { error: describeDatabaseError(error) }));
  await boss.start();
  return boss;
}

/**
 * Installs or migrates pg-boss's schema and our queues. Several processes at once are safe. Its
 * transactions are each one message, so any pooler will do.
 */
export async function installQueues(databaseUrl: string): Promise<void> {
  const boss = new PgBoss({ ...connection(databaseUrl, true), supervise: false, schedule: false });
  let failure: Error | null = null;
  boss.on('error', (error) => {
    failure = error;
  });
  await boss.start();
  try {
    await boss.createQueue(sliceQueue, {
      policy: 'exclusive',
      notify: true,
      heartbeatSeconds: silenceSeconds.slice,
      retryLimit: unlimitedRetries,
      expireInSeconds: expireSeconds,
      deleteAfterSeconds: keepFinishedSeconds,
    });
    await boss.createQueue(runQueue, {
      policy: 'exclusive',
      notify: true,
      heartbeatSeconds: silenceSeconds.run,
      deleteAfterSeconds: keepFinishedSeconds,
    });
  } finally {
    await boss.stop({ graceful: false });
  }
  if (failure !== null) throw failure;
}

/**
 * pg-boss hands these to its pool. It runs each statement on a connection taken for it alone, which
 * is closed when `query_timeout` passes.
 */
const connection = (
  databaseUrl: string,
  isPooled: boolean,
  dbTimeouts = workTimeouts,
): ConstructorOptions => {
  const pool = {
    connectionString: isPooled ? databaseUrl : withSettings(databaseUrl, settingsFor(dbTimeouts)),
    application_name: 'explorer-etl jobs',
    max: bossConnections,
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveDelayMs,
    query_timeout: dbTimeouts.answerMs,
  };
  return { ...pool, schema: 'pgboss' };
};

/** When a lane is polled by whoever works by schedules. */
export interface LaneTimes {
  readonly lane: FeedLane;
  readonly cron: string;
  readonly timezone: string;
}

/** The schedules that the last `start` set; none where there was never one. */
export async function schedulesSet(db: Pick<Database, 'execute'>): Promise<LaneTimes[]> {
  const { rows } = await db.execute<{ is_there: boolean }>(
    sql`select to_regnamespace('pgboss') is not null as is_there`,
  );
  if (rows[0]?.is_there !== true) return [];
  // Never started: it only reads, over a connection of ours.
  const boss = new PgBoss({
    db: fromDrizzle(db, sql),
    schema: 'pgboss',
    supervise: false,
    schedule: false,
  });
  const schedules = await boss.getSchedules(runQueue);
  return schedules.map(({ data, cron, timezone }) => ({
    lane: (data as { readonly lane: FeedLane }).lane,
    cron,
    timezone,
  }));
}
