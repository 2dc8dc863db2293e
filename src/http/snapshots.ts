import { setTimeout as delay } from 'node:timers/promises';
import { isRunning } from '../status/lanes.ts';
import type { StatusDocument } from '../status/schema.ts';

/** Pause between reads, as a multiple of the last one's duration, within limits in ms: a fiftieth of a core at rest. */
const calm = { times: 50, leastMs: 1_000, mostMs: 30_000 };
/** While pages arrive, people watch, and the work itself slows a read down. */
const busy = { times: 5, leastMs: 1_000, mostMs: 3_000 };
/** How long a scrape waits for a read: with an old one, and without, in ms. */
const promptMs = 20;
const longestMs = 5_000;
/** Maximum age of a scrape's read, in ms. */
const recentMs = 60_000;

export type Snapshots = ReturnType<typeof createSnapshots>;

/** Reads the status once for all clients. `read` never rejects; `now` is monotonic, in ms. */
export function createSnapshots(read: () => Promise<StatusDocument>, now: () => number) {
  let coming: { readonly status: Promise<StatusDocument>; goodUntilMs: number } | null = null;
  let last: { readonly status: StatusDocument; readonly atMs: number } | null = null;

  /** Some seconds old at most; never rejects. */
  const newest = async (): Promise<StatusDocument> => {
    if (coming !== null && now() < coming.goodUntilMs) return coming.status;
    const begun = now();
    const mine = { status: read(), goodUntilMs: Infinity };
    coming = mine;
    const status = await mine.status;
    last = { status, atMs: now() };
    const { times, leastMs, mostMs } = status.feeds.some((feed) => isRunning(feed)) ? busy : calm;
    const restMs = times * (last.atMs - begun);
    mine.goodUntilMs = last.atMs + Math.min(Math.max(leastMs, restMs), mostMs);
    return status;
  };

  return {
    newest,
    /** For a scrape, which cannot wait: a minute old at most; null: none in time. */
    async recent(): Promise<StatusDocument | null> {
      const old = last !== null && now() - last.atMs < recentMs ? last.status : null;
      const ended = new AbortController();
      const late = delay(old === null ? longestMs : promptMs, old, { signal: ended.signal });
      late.catch(() => undefined);
      const status = await Promise.race([newest(), late]);
      ended.abort();
      return status;
    },
  };
}
