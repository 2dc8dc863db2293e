import { setTimeout as delay } from 'node:timers/promises';
import { DatabaseUnavailableError, openDatabase, type OpenDatabase } from '../app.ts';
import type { Settings } from '../config/settings.ts';
import { isConnectionLost } from '../db/failure.ts';
import type { Log } from '../log.ts';
import type { Context } from './context.ts';

/** First wait for a database that does not answer, in ms, doubled up to the longest one. */
const firstWaitMs = 500;
const longestWaitMs = 15_000;

/** About ten minutes: a server that recovers takes some; a name that is mistyped is told at last. */
const mostAttempts = 45;

/**
 * Opens the database, and waits for one that does not answer: machines start in any order. What no
 * waiting mends, such as a wrong password or name, is thrown at once.
 *
 * @returns null when the signal aborted first
 * @throws DatabaseUnavailableError
 */
export async function awaitDatabase(
  settings: Settings,
  context: Context,
  log: Log,
): Promise<OpenDatabase | null> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await openDatabase(settings, context);
    } catch (error) {
      const passes = error instanceof DatabaseUnavailableError && isConnectionLost(error.cause);
      if (!passes || attempt === mostAttempts) throw error;
      const waitMs = Math.min(longestWaitMs, firstWaitMs * 2 ** (attempt - 1));
      log.warn({ error: error.message, again_in_ms: waitMs }, 'database.away');
      await delay(waitMs, undefined, { signal: context.signal }).catch(() => undefined);
      if (context.signal.aborted) return null;
    }
  }
}
