import { setTimeout as delay } from 'node:timers/promises';
import { openEngine, prepareDatabase, type Engine, type SourceOptions } from '../app.ts';
import { DatabaseUnavailableError, openDatabase, type OpenDatabase } from '../open-database.ts';
import type { Settings } from '../config/settings.ts';
import { describeDatabaseError, isConnectionLost } from '../db/failure.ts';
import type { Log } from '../log.ts';
import type { Context } from './context.ts';

/** First wait for a database that does not answer, in ms, doubled up to the longest one. */
const firstWaitMs = 500;
const longestWaitMs = 15_000;

/** About ten minutes: a server that recovers takes some; a name that is mistyped is told at last. */
const mostAttempts = 45;

/** What work on feeds needs, on a database that is of this version. */
interface OpenEngine {
  readonly database: OpenDatabase;
  readonly engine: Engine;
}

interface Opening {
  readonly source: SourceOptions;
  /** Told of the database before anything is done to it. */
  readonly onOpen: (database: OpenDatabase) => void;
}

/**
 * Opens and prepares the database, and the engine on it, and waits for one that does not answer:
 * machines start in any order, and servers restart. What no waiting mends, such as a wrong password
 * or name, is thrown at once.
 *
 * @returns null when the signal aborted first
 * @throws DatabaseUnavailableError, MigrationError, OriginError, PoolerError, StandbyError, what Postgres throws
 */
export async function awaitEngine(
  settings: Settings,
  context: Context,
  log: Log,
  opening: Opening,
): Promise<OpenEngine | null> {
  for (let attempt = 1; ; attempt += 1) {
    if (context.signal.aborted) return null;
    try {
      const opened = await openAll(settings, context, log, opening);
      if (attempt > 1) log.tell('database.back', {});
      return opened;
    } catch (error) {
      // What fails while it is told to stop is no news.
      if (context.signal.aborted) return null;
      const root = error instanceof DatabaseUnavailableError ? error.cause : error;
      if (!isConnectionLost(root) || attempt === mostAttempts) throw error;
      const waitMs = Math.min(longestWaitMs, firstWaitMs * 2 ** (attempt - 1));
      log.tell('database.away', { error: describeDatabaseError(root), again_in_ms: waitMs });
      await delay(waitMs, undefined, { signal: context.signal }).catch(() => undefined);
    }
  }
}

async function openAll(
  settings: Settings,
  context: Context,
  log: Log,
  { source, onOpen }: Opening,
): Promise<OpenEngine> {
  const database = await openDatabase(settings, context);
  try {
    onOpen(database);
    const tell = (reason: string) => log.tell('database.locked', { reason });
    await prepareDatabase(database, { signal: context.signal, tell });
    const engine = await openEngine({ settings, database, log, supervise: true, source });
    return { database, engine };
  } catch (error) {
    await database.close();
    throw error;
  }
}
