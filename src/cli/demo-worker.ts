import { fork } from 'node:child_process';
import { once } from 'node:events';
import { performance } from 'node:perf_hooks';
import { z } from 'zod';
import { openEngine } from '../app.ts';
import type { Settings } from '../config/settings.ts';
import { withName } from '../db/timeouts.ts';
import { whileCurrent } from '../db/migrate.ts';
import { feedName } from '../lists/feed.ts';
import { createLog } from '../log.ts';
import { openDatabase, type OpenDatabase } from '../open-database.ts';
import { programFile } from '../package-file.ts';
import { syncOnce, type SyncTarget } from '../sync/once.ts';
import { sumUp, tidyUp } from '../sync/serve.ts';
import { exitCodes, UsageError, type Context, type ExitCode } from './context.ts';
import {
  openTargets,
  openWalks,
  readResumption,
  readStagePages,
  stageFeed,
  waitUntil,
  type DemoExplorer,
  type DemoWorld,
  type ResumedWalk,
} from './demo-world.ts';

/** A demo worker's task. It comes as a message, because other users can read arguments. */
interface Assignment {
  readonly settings: Settings & { readonly databaseUrl: string };
  readonly targets: readonly SyncTarget[];
  readonly origin: string;
}

/** The reason is in bin/explorer-etl.js. */
const flags = ['--max-semi-space-size=8'];

export type DemoWorker = ReturnType<typeof startDemoWorker>;

/** Starts a worker process that waits for its assignment. It ends with this process. */
export function startDemoWorker({ env, cwd }: Pick<Context, 'env' | 'cwd'>) {
  const child = fork(programFile(), ['demo', '--as-worker'], {
    cwd,
    env,
    execArgv: flags,
    // The ledger has its pages, and the next worker repeats its failures.
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    serialization: 'advanced',
  });
  // Null: the process did not start.
  const ended = once(child, 'exit').then(
    ([, signal]: unknown[]) => signal,
    () => null,
  );
  const isRunning = () =>
    child.pid !== undefined && child.exitCode === null && child.signalCode === null;
  return {
    pid: child.pid ?? 0,
    isRunning,
    work: (assignment: Assignment) =>
      void (child.connected && child.send(assignment, () => undefined)),
    /** Sends SIGKILL and waits for the exit. @returns whether SIGKILL ended it */
    async kill(): Promise<boolean> {
      if (isRunning()) child.kill('SIGKILL');
      return (await ended) === 'SIGKILL';
    },
  };
}

// eslint-disable-next-line unicorn/no-process-exit -- there is nothing left to work for, as after a kill
const leave = () => process.exit(exitCodes.interrupted);

/** The worker's side: works on its assignment until it is done, killed, or the demo has ended. */
export async function workForDemo({ signal, cwd }: Context): Promise<ExitCode> {
  if (process.send === undefined) throw new UsageError('--as-worker is for the demo itself.');
  process.once('disconnect', leave);
  const [{ settings, targets, origin }] = (await once(process, 'message', { signal })) as [
    Assignment,
  ];
  const database = await openDatabase(settings, { cwd });
  try {
    const engine = await openDemoEngine(settings, database, origin);
    try {
      await whileCurrent(database.pool, signal, (current) => syncOnce(targets, engine, current));
      return exitCodes.done;
    } finally {
      await engine.close();
    }
  } finally {
    await database.close();
    process.off('disconnect', leave);
    process.disconnect();
  }
}

function openDemoEngine(settings: Settings, database: OpenDatabase, origin: string) {
  const log = createLog('silent', () => undefined);
  return openEngine({ settings, database, log, supervise: false, source: { origin } });
}

const count = z.int().min(0);

/** The kill, and how the walk of the watched feed continued. Pages count from 1. */
export const killSchema = z.strictObject({
  pid: z.int(),
  /** False: the worker ended before the SIGKILL. */
  is_real: z.boolean(),
  /** The feed of the pages; null: no walk was active. */
  feed: z.string().nullable(),
  /** The last page committed before the kill; 0: none. */
  killed_at_page: count.nullable(),
  /** The first page committed after the kill; null: none. */
  resumed_at_page: count.nullable(),
  /** Places where a page does not follow the previous one. */
  pages_lost: count,
  /** Pages stored more than once. */
  pages_stored_twice: count,
});
export type Kill = z.infer<typeof killSchema>;

/** Whether a worker was killed, and the next one resumed exactly at its last page. */
export const isKillClean = (kill: Kill): boolean =>
  kill.is_real &&
  kill.killed_at_page !== null &&
  kill.resumed_at_page === kill.killed_at_page + 1 &&
  kill.pages_lost === 0 &&
  kill.pages_stored_twice === 0;

interface DemoStage {
  readonly settings: Settings;
  readonly database: OpenDatabase;
  readonly world: DemoWorld;
  readonly explorer: DemoExplorer;
  readonly worker: DemoWorker;
  /** Pages of the watched feed to commit before the kill. */
  readonly killAfter: number;
  readonly onKill: (pages: number) => void;
}

/** Kills the worker halfway, and resumes in this process. @returns null if the signal aborted */
export async function killAndResume(stage: DemoStage, signal: AbortSignal): Promise<Kill | null> {
  const { settings, database, explorer, worker, onKill } = stage;
  const { targets, origin } = stage.world;
  const { db, pool } = database;
  const name = `explorer-etl demo worker ${worker.pid}`;
  const before = await readStagePages(db);
  const named = { ...settings, databaseUrl: withName(database.url, name) };
  worker.work({ settings: named, targets, origin });
  // This engine waits while the worker runs.
  const engine = await openDemoEngine(settings, database, origin);
  try {
    await untilMiddle(stage, before, signal);
    const isReal = await worker.kill();
    await untilGone(database, name, signal);
    if (signal.aborted) return null;
    const walks = await openWalks(db, [...new Set(targets.map(({ lane }) => feedName(lane)))]);
    onKill(walks.find(({ feed }) => feed === stageFeed)?.pages ?? 0);
    explorer.release();
    // Targets that finished before the kill are not requested twice.
    const open = await openTargets(db, targets);
    await whileCurrent(pool, signal, (current) => syncOnce(open, engine, current));
    await tidyUp(engine, signal);
    await sumUp(engine, signal);
    if (signal.aborted) return null;
    const resumed = await readResumption(db, walks);
    return { pid: worker.pid, is_real: isReal, ...describeWalks(resumed) };
  } finally {
    await engine.close();
  }
}

/** The longest resumed walk of the watched feed, if any, and the faults of all. */
function describeWalks(walks: readonly ResumedWalk[]): Omit<Kill, 'pid' | 'is_real'> {
  const resumed = walks.filter(({ resumed_at }) => resumed_at !== null);
  const shown = resumed.find(({ feed }) => feed === stageFeed) ?? resumed[0] ?? walks[0];
  return {
    feed: shown?.feed ?? null,
    killed_at_page: shown?.stopped_at ?? null,
    resumed_at_page: shown?.resumed_at ?? null,
    pages_lost: walks.reduce((sum, { lost }) => sum + lost, 0),
    pages_stored_twice: walks.reduce((sum, { twice }) => sum + twice, 0),
  };
}

/** Only a hang takes longer, in ms. */
const mostToMiddleMs = 5 * 60_000;
const mostToGoneMs = 60_000;

/** Waits until enough pages are committed and a request is active, or the worker has ended. */
async function untilMiddle(
  { database, explorer, worker, killAfter }: DemoStage,
  before: number,
  signal: AbortSignal,
): Promise<void> {
  const isMiddle = async () =>
    !worker.isRunning() ||
    (explorer.stageRequests() > killAfter &&
      (await readStagePages(database.db)) - before >= killAfter);
  const what = `the worker to be midway in ${stageFeed}`;
  await waitUntil(what, isMiddle, { mostMs: mostToMiddleMs, signal });
}

/** A server ends the sessions of a dead process well within this time, in ms. */
const sessionsMs = 1_000;

/** Waits until no session can commit for the worker. After a while, idle ones are a pooler's. */
async function untilGone({ pool }: OpenDatabase, name: string, signal: AbortSignal): Promise<void> {
  const killedMs = performance.now();
  const isGone = async () => {
    const { rows } = await pool.query<{ is_busy: boolean }>(
      `select state is distinct from 'idle' as is_busy
       from pg_stat_activity
       where application_name = $1 and datname = current_database()`,
      [name],
    );
    const isPooled = performance.now() - killedMs > sessionsMs;
    return rows.length === 0 || (isPooled && rows.every(({ is_busy }) => !is_busy));
  };
  const what = `the sessions of ${name}, which was killed, to end`;
  await waitUntil(what, isGone, { mostMs: mostToGoneMs, signal });
}
