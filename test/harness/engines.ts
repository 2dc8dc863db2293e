import { onTestFinished } from 'vitest';
import { type Engine, type EngineOptions, openEngine, registerSettings } from '../../src/app.ts';
import { requireApiKey, type Settings } from '../../src/config/settings.ts';
import type { DatabaseTimeouts } from '../../src/db/pool.ts';
import { openBudget } from '../../src/explorer/budget.ts';
import type { Timeouts } from '../../src/explorer/client.ts';
import { createLog, type LogLevel } from '../../src/log.ts';
import { type Attempted, signals } from '../../src/signals.ts';
import { endWith, opened, type UsedDatabase } from './database.ts';
import { hangMs } from './process.ts';

/**
 * As `workTimeouts`, but of a database that no test's own process breaks: what a busy machine has not
 * got round to is not lost.
 */
export const patient: DatabaseTimeouts = {
  answerMs: hangMs,
  server: { statement_timeout: hangMs, idle_in_transaction_session_timeout: hangMs },
};

/** The product's own composition on a prepared database, in this process; the caller closes it. */
export function openComposed(
  database: UsedDatabase,
  settings: Settings,
  options: Partial<EngineOptions> = {},
): Promise<Engine> {
  const open = opened(database);
  const log = createLog('silent', () => undefined);
  const own = { settings, database: open, log, dbTimeouts: patient };
  return openEngine({ ...own, ...options });
}

interface SyncEngineOptions {
  readonly timeouts?: Partial<Timeouts>;
  readonly logLevel?: LogLevel;
}

/** A test may have several explorers, one after the other, that serve the same chains. */
const source = { sameData: true };

/** An engine that syncs; the caller closes it. */
export const openSyncEngine = (
  database: UsedDatabase,
  settings: Settings,
  { timeouts, logLevel = 'silent' }: SyncEngineOptions,
): Promise<Engine> =>
  openComposed(database, settings, {
    log: createLog(logLevel, (line) => void process.stderr.write(line)),
    source,
    timeouts: { recheckMs: 0, ...timeouts },
  });

/** An engine that the syncs of one test share, and then those of the next on the same database. */
interface SharedEngine {
  readonly opening: Promise<Engine>;
  /** The chains that the running test has registered; null: none yet. */
  chains: string | null;
}

/** Engines by database and settings: to open one takes longer than to sync a short list. */
const engines = new Map<string, SharedEngine>();

/** The engine of such syncs. */
export async function sharedEngine(
  database: UsedDatabase,
  settings: Settings,
  options: SyncEngineOptions,
): Promise<Engine> {
  const { chains, ...others } = settings;
  const ids = chains.map(({ id }) => id);
  const key = JSON.stringify([database.url, others, ids, options.timeouts, options.logLevel]);
  const known = engines.get(key);
  const opening = known?.opening ?? openSyncEngine(database, settings, options);
  const shared = known ?? { opening, chains: null };
  engines.set(key, shared);
  const before = shared.chains;
  shared.chains = JSON.stringify(chains);
  const engine = await opening;
  if (known === undefined) endWith(database.url, () => endEngine(key));
  else if (before !== shared.chains) await registerAgain(engine, settings);
  if (before === null) leaveToNext(key, shared, engine);
  return engine;
}

/** An engine remembers what the explorer refused, and what it stated of its limits: it ends with a test that had this. */
function leaveToNext(key: string, shared: SharedEngine, engine: Engine): void {
  let isRefused = false;
  const note = ({ by, outcome }: Attempted) => {
    isRefused ||= by === engine.pool && outcome !== 'ok';
  };
  signals.on('request', note);
  onTestFinished(async ({ task }) => {
    signals.off('request', note);
    shared.chains = null;
    const isPassed = task.result?.state !== 'fail';
    const canStay = isPassed && !isRefused && !(await isLimited(engine));
    if (!canStay) await endEngine(key);
  });
}

/** Whether the explorer stated a limit that a test could meet: without one of its own it states a billion. */
async function isLimited({ pool }: Engine): Promise<boolean> {
  const stated = await pool
    .query('select from etl.budget where least(service_limit, credits_remaining) < 1e8')
    .catch(() => null);
  return stated?.rowCount !== 0;
}

async function endEngine(key: string): Promise<void> {
  const shared = engines.get(key);
  engines.delete(key);
  const engine = await shared?.opening;
  await engine?.close();
}

/** Writes what an engine writes when it is opened. */
async function registerAgain({ db, pool, now }: Engine, settings: Settings): Promise<void> {
  await registerSettings(db, settings, source);
  for (const key of new Set(requireApiKey(settings).values())) {
    const how = { limitName: 'daily_credits', sleep: async () => undefined };
    await openBudget({ ...key, ...how, pool, now });
  }
}
