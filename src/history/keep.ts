import { setTimeout as delay } from 'node:timers/promises';
import { describeDatabaseError } from '../db/failure.ts';
import type { Log } from '../log.ts';
import { countMinutes, type MinuteOptions } from './minute.ts';

/** The histories of one engine's work, for as long as it works. */
export interface History {
  /** Writes what was counted last, and ends. */
  close(): Promise<void>;
}

/** How long a write that failed rests, in ms. */
const minuteMs = 60_000;
/** How far behind the end of a minute it is written, in ms: so that what came is told by then. */
const behindMs = 500;
/** What an end waits for the last write, in ms: a database that is away holds up no stop. */
const longestFlushMs = 2_000;

/**
 * Once a minute adds what the engine did to `etl.lane_minutes`, and notes in `etl.feed_minutes` how
 * current every feed is. It never fails the work: a write that fails is logged.
 */
export function keepHistory({ log, ...options }: MinuteOptions & { readonly log: Log }): History {
  const ended = new AbortController();
  const minutes = countMinutes(options);
  const write = () =>
    minutes.write().catch((error: unknown) => {
      log.tell('history.failure', { error: describeDatabaseError(error) });
      return minuteMs;
    });
  const keeping = (async () => {
    while (!ended.signal.aborted) {
      const restMs = await write();
      await delay(restMs + behindMs, undefined, { signal: ended.signal }).catch(() => undefined);
    }
  })();
  return {
    async close() {
      ended.abort();
      const flushed = new AbortController();
      await Promise.race([
        keeping.then(write),
        delay(longestFlushMs, undefined, { signal: flushed.signal }).catch(() => undefined),
      ]);
      flushed.abort();
      minutes.stop();
    },
  };
}
