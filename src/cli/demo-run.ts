import { fork } from 'node:child_process';
import { once } from 'node:events';
import { z } from 'zod';
import { openEngine, type Engine } from '../app.ts';
import type { Settings } from '../config/settings.ts';
import { withName } from '../db/timeouts.ts';
import { whileCurrent } from '../db/migrate.ts';
import { sumUp, tidyUp } from '../sync/serve.ts';
import { syncOnce, type SyncTarget } from '../sync/once.ts';
import { feedName } from '../lists/feed.ts';
import { createLog } from '../log.ts';
import { openDatabase, type OpenDatabase } from '../open-database.ts';
import { programFile } from '../package-file.ts';
import { laneCounts, openWalks, readResumption, type Resumption } from './demo-ledger.ts';
import { exitCodes, UsageError, type Context, type ExitCode } from './context.ts';
import { stageFeed, type DemoExplorer } from './demo-world.ts';
import { waitUntil } from './wait-until.ts';

/** What a worker of the demo is to do. It comes as a message: everybody can see arguments. */
interface Assignment {
  /** Names the key and the database. */
  readonly settings: Settings & { readonly databaseUrl: string };
  readonly targets: readonly SyncTarget[];
  readonly origin: string;
}

/** A worker in a process of its own. */
export interface DemoWorker {
  readonly pid: number;
  readonly isRunning: boolean;
  work(assignment: Assignment): void;
  /** Ends it by SIGKILL, and resolves when it is gone: whether that is what ended it. */
  kill(): Promise<boolean>;
}

/** As for every process of the program (bin/explorer-etl.js has the reason). */
const flags = ['--max-semi-space-size=16'];

/** Starts a worker that waits for its assignment. It ends with this process, however that ends. */
export function startDemoWorker({ env, cwd }: Pick<Context, 'env' | 'cwd'>): DemoWorker {
  const child = fork(programFile(), ['demo', '--as-worker'], {
    cwd,
    env,
    execArgv: flags,
    // Its pages are in the ledger, and its failures are the next worker's too.
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    serialization: 'advanced',
  });
  const ended = new Promise<NodeJS.Signals | null>((resolve) => {
    child.once('exit', (_code, signal) => resolve(signal));
    // No process could be started.
    child.once('error', () => resolve(null));
  });
  const isRunning = () =>
    child.pid !== undefined && child.exitCode === null && child.signalCode === null;
  return {
    pid: child.pid ?? 0,
    get isRunning() {
      return isRunning();
    },
    work: (assignment) => void (child.connected && child.send(assignment, () => undefined)),
    async kill() {
      if (isRunning()) child.kill('SIGKILL');
      return (await ended) === 'SIGKILL';
    },
  };
}

// eslint-disable-next-line unicorn/no-process-exit -- there is nothing left to work for, as after a kill
const leave = () => process.exit(exitCodes.interrupted);

/** The other side: works on its assignment until it is done, killed, or the demo is gone. */
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

const openDemoEngine = (
  settings: Settings,
  database: OpenDatabase,
  origin: string,
): Promise<Engine> => {
  const log = createLog('silent', () => undefined);
  return openEngine({ settings, database, log, supervise: false, source: { origin } });
};

const count = z.int().min(0);

/** The kill, and how the walk of the watched feed went on. Pages are counted from 1. */
export const killSchema = z.strictObject({
  pid: z.int(),
  /** Whether SIGKILL ended it; false: it had ended by itself. */
  is_real: z.boolean(),
  /** The feed that the pages are of; null: none was under way. */
  feed: z.string().nullable(),
  /** The last page that was committed before the kill; 0: none. */
  killed_at_page: count.nullable(),
  /** The first page that was committed after it; null: none. */
  resumed_at_page: count.nullable(),
  /** Places in them where a page does not follow the one before. */
  pages_lost: count,
  /** Pages of them that are stored more than once. */
  pages_stored_twice: count,
});
export type Kill = z.infer<typeof killSchema>;

/** Whether a worker was killed, and the next one resumed exactly where it had stopped. */
export const isKillClean = (kill: Kill): boolean =>
  kill.is_real &&
  kill.killed_at_page !== null &&
  kill.resumed_at_page === kill.killed_at_page + 1 &&
  kill.pages_lost === 0 &&
  kill.pages_stored_twice === 0;

/** All that a demo's work needs. */
interface DemoStage {
  readonly settings: Settings;
  readonly database: OpenDatabase;
  readonly targets: readonly SyncTarget[];
  readonly origin: string;
  readonly explorer: DemoExplorer;
  readonly worker: DemoWorker;
  /** So many pages of the watched feed are committed before its worker is killed. */
  readonly killAfter: number;
  /** Called after the kill, with the pages of the watched feed's walk. */
  readonly onKill: (pages: number) => void;
}

/**
 * Lets the worker read, kills it halfway, and resumes in its place in this process.
 *
 * @returns null if the signal aborted first
 */
export async function runDemo(stage: DemoStage, signal: AbortSignal): Promise<Kill | null> {
  const { settings, database, targets, origin, explorer, worker, onKill } = stage;
  const { db, pool } = database;
  const name = `explorer-etl demo worker ${worker.pid}`;
  const before = await pagesOf(database, stageFeed);
  worker.work({
    settings: { ...settings, databaseUrl: withName(database.url, name) },
    targets,
    origin,
  });
  // It stands by while the other one works.
  const engine = await openDemoEngine(settings, database, origin);
  try {
    await untilMiddle(stage, before, signal);
    const isReal = await worker.kill();
    await untilGone(database, name, signal);
    if (signal.aborted) return null;
    const feeds = [...new Set(targets.map(({ lane }) => feedName(lane)))];
    const walks = await openWalks(db, feeds);
    onKill(walks.find(({ feed }) => feed === stageFeed)?.pages ?? 0);
    explorer.release();
    await whileCurrent(pool, signal, (current) => resume(engine, { targets, feeds }, current));
    await tidyUp(engine, signal);
    await sumUp(engine, signal);
    if (signal.aborted) return null;
    const resumption = await readResumption(db, walks);
    const walk = shownWalk(resumption);
    return {
      pid: worker.pid,
      is_real: isReal,
      feed: walk?.feed ?? null,
      killed_at_page: walk?.stopped_at ?? null,
      resumed_at_page: walk?.resumed_at ?? null,
      pages_lost: resumption.lost,
      pages_stored_twice: resumption.twice,
    };
  } finally {
    await engine.close();
  }
}

/** The longest walk of the watched feed that was resumed; if none was, any. */
function shownWalk({ walks }: Resumption) {
  const resumed = walks.filter(({ resumed_at }) => resumed_at !== null);
  return resumed.find(({ feed }) => feed === stageFeed) ?? resumed[0] ?? walks[0];
}

/** What was finished before the kill is not requested again. */
async function resume(
  engine: Engine,
  { targets, feeds }: Pick<DemoStage, 'targets'> & { readonly feeds: readonly string[] },
  signal: AbortSignal,
): Promise<void> {
  const counts = await laneCounts(engine.db, feeds);
  const open = targets.filter(({ lane }) =>
    counts.some(
      (of) => of.feed === feedName(lane) && of.lane === lane.lane && of.run_state === 'open',
    ),
  );
  await syncOnce(open, engine, signal);
}

/** Only a hang takes longer, in ms. */
const mostToMiddleMs = 5 * 60_000;
const mostToGoneMs = 60_000;

/** Until enough is committed, and a request of the worker is under way; or it has ended by itself. */
async function untilMiddle(
  { database, explorer, worker, killAfter }: DemoStage,
  before: number,
  signal: AbortSignal,
): Promise<void> {
  const isMiddle = async () => {
    if (!worker.isRunning) return true;
    const isRequested = explorer.stageRequests > killAfter;
    return isRequested && (await pagesOf(database, stageFeed)) - before >= killAfter;
  };
  const what = `the worker to be midway in ${stageFeed}`;
  await waitUntil(what, isMiddle, { mostMs: mostToMiddleMs, signal });
}

/** How many pages of a feed were read. */
export async function pagesOf({ db }: OpenDatabase, feed: string): Promise<number> {
  const counts = await laneCounts(db, [feed]);
  return counts.reduce((sum, { pages }) => sum + pages, 0);
}

/** A server drops the sessions of a process that is gone well within so many polls. */
const pollsOfSessions = 50;

/**
 * A commit that was sent before the kill is done after it: waits until no session is left that could. A
 * pooler keeps sessions for others; after a while idle ones are none of the worker's.
 */
async function untilGone({ pool }: OpenDatabase, name: string, signal: AbortSignal): Promise<void> {
  let polls = 0;
  const isGone = async () => {
    const { rows } = await pool.query<{ is_busy: boolean }>(
      `select state is distinct from 'idle' as is_busy
       from pg_stat_activity
       where application_name = $1 and datname = current_database()`,
      [name],
    );
    const isPooled = polls >= pollsOfSessions && rows.every(({ is_busy }) => !is_busy);
    polls += 1;
    return rows.length === 0 || isPooled;
  };
  const what = `the sessions of ${name}, which was killed, to end`;
  await waitUntil(what, isGone, { mostMs: mostToGoneMs, signal });
}
