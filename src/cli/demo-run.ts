import { type Engine, openEngine } from '../app.ts';
import type { Settings } from '../config/settings.ts';
import { withName } from '../db/timeouts.ts';
import { whileCurrent } from '../db/version.ts';
import { feedName } from '../lists/feed.ts';
import { createLog } from '../log.ts';
import type { OpenDatabase } from '../open-database.ts';
import { laneCounts } from '../report/progress.ts';
import { type OpenWalk, openWalks, readResumption, type Resumption } from '../report/resumption.ts';
import { syncOnce, type SyncTarget } from '../sync/once.ts';
import { sumUp, tidyUp } from '../sync/serve.ts';
import type { DemoScreen } from './demo-screen.ts';
import type { DemoWorker } from './demo-worker.ts';
import type { DemoExplorer } from './demo-world.ts';
import { waitUntil } from './wait-until.ts';

/** The middle is a matter of seconds, and so is the end of a killed process's sessions, in ms. */
const mostToMiddleMs = 5 * 60_000;
const mostToGoneMs = 60_000;
/** A server drops the sessions of a process that is gone well within so many looks. */
const looksAtSessions = 50;

/** All that a demo's work needs. */
export interface DemoStage {
  readonly settings: Settings;
  readonly database: OpenDatabase;
  readonly targets: readonly SyncTarget[];
  readonly origin: string;
  readonly explorer: DemoExplorer;
  readonly worker: DemoWorker;
  readonly screen: DemoScreen;
  readonly feed: string;
  /** So many pages of the feed are committed anew before its worker is killed. */
  readonly killAfter: number;
}

/** A kill, from when the process is gone. */
export interface Kill {
  readonly pid: number;
  /** Whether the process was ended by SIGKILL, and not by itself before. */
  readonly isReal: boolean;
  /** What was under way, as committed when none of its sessions was left. */
  readonly walks: readonly OpenWalk[];
}

/** How the copy went. */
export interface DemoRun {
  readonly kill: Kill;
  readonly resumption: Resumption;
}

/**
 * Lets the worker copy, kills it in the middle, and goes on in its place with another one: this process.
 *
 * @returns null when the signal aborted first
 */
export async function runDemo(stage: DemoStage, signal: AbortSignal): Promise<DemoRun | null> {
  const { settings, database, targets, origin, explorer, worker, screen, feed } = stage;
  const { db, pool } = database;
  const name = `explorer-etl demo worker ${worker.pid}`;
  const before = await pagesOf(database, feed);
  const databaseUrl = withName(database.url, name);
  worker.work({ settings: { ...settings, databaseUrl }, targets, origin });
  // It stands by while the other one works.
  const log = createLog('silent', () => undefined);
  const engine = await openEngine({
    settings,
    database,
    log,
    supervise: false,
    source: { origin },
  });
  try {
    await untilMiddle(stage, before, signal);
    const isReal = await worker.kill();
    await untilGone(database, name, signal);
    if (signal.aborted) return null;
    const kill = { pid: worker.pid, isReal, walks: await openWalks(db, feedsOf(targets)) };
    screen.killed(kill.pid, kill.walks.find((walk) => walk.feed === feed)?.pages ?? 0);
    explorer.release();
    await whileCurrent(pool, signal, (current) => goOn(engine, targets, current));
    await tidyUp(engine, signal);
    await sumUp(engine, signal);
    if (signal.aborted) return null;
    return { kill, resumption: await readResumption(db, kill.walks) };
  } finally {
    await engine.close();
  }
}

const feedsOf = (targets: readonly SyncTarget[]) => [
  ...new Set(targets.map(({ lane }) => feedName(lane))),
];

/** What was done before the kill is not asked for again. */
async function goOn(
  engine: Engine,
  targets: readonly SyncTarget[],
  signal: AbortSignal,
): Promise<void> {
  const counts = await laneCounts(engine.db, feedsOf(targets));
  const open = targets.filter(({ lane }) =>
    counts.some(
      (of) => of.feed === feedName(lane) && of.lane === lane.lane && of.run_state === 'open',
    ),
  );
  await syncOnce(open, engine, signal);
}

/** Until enough is committed, and a request of the worker is under way; or it has ended by itself. */
async function untilMiddle(
  { database, explorer, worker, feed, killAfter }: DemoStage,
  before: number,
  signal: AbortSignal,
): Promise<void> {
  const isMiddle = async () => {
    if (!worker.isRunning) return true;
    const isAsked = explorer.stageRequests > killAfter;
    if (isAsked && (await pagesOf(database, feed)) - before >= killAfter) return true;
    return false;
  };
  const what = `the worker to be midway in ${feed}`;
  await waitUntil(what, isMiddle, { mostMs: mostToMiddleMs, signal });
}

async function pagesOf({ db }: OpenDatabase, feed: string): Promise<number> {
  const counts = await laneCounts(db, [feed]);
  return counts.reduce((sum, { pages }) => sum + pages, 0);
}

/**
 * A commit that was sent before the kill is done after it: waits until no session is left that could. A
 * pooler keeps them for others; after a while those that have nothing to do are none of the worker's.
 */
async function untilGone({ pool }: OpenDatabase, name: string, signal: AbortSignal): Promise<void> {
  let looks = 0;
  const isGone = async () => {
    const { rows } = await pool.query<{ is_busy: boolean }>(
      `select state is distinct from 'idle' as is_busy
       from pg_stat_activity
       where application_name = $1 and datname = current_database()`,
      [name],
    );
    const isPooled = looks >= looksAtSessions && rows.every(({ is_busy }) => !is_busy);
    looks += 1;
    return rows.length === 0 || isPooled;
  };
  const what = `the sessions of ${name}, which was killed, to end`;
  await waitUntil(what, isGone, { mostMs: mostToGoneMs, signal });
}
