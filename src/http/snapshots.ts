import { setTimeout as delay } from 'node:timers/promises';
import type { StatusDocument } from '../status/schema.ts';

/** How far readings are apart: as many times as one took, but at least and at most so long, in ms. */
const rest = { times: 50, leastMs: 1_000, mostMs: 30_000 };
/** How long a scrape waits for a new reading if it has an old one, and if it has none, in ms. */
const promptMs = 20;
const longestMs = 5_000;
/** How old the reading of a scrape may be, in ms. */
const recentMs = 60_000;

export type Snapshots = ReturnType<typeof createSnapshots>;

/**
 * The status, read once for all who ask. Costs a fiftieth of one core of the database at most, at any size.
 *
 * @param read does not reject: an outage is a status too
 * @param now monotonic, in ms
 */
export function createSnapshots(read: () => Promise<StatusDocument>, now: () => number) {
  let coming: { readonly status: Promise<StatusDocument>; goodUntilMs: number } | null = null;
  let last: { readonly status: StatusDocument; readonly atMs: number } | null = null;

  /** Some seconds old at most; rejects never. */
  const newest = async (): Promise<StatusDocument> => {
    if (coming !== null && now() < coming.goodUntilMs) return coming.status;
    const begun = now();
    const mine = { status: read(), goodUntilMs: Infinity };
    coming = mine;
    const status = await mine.status;
    last = { status, atMs: now() };
    const restMs = rest.times * (last.atMs - begun);
    mine.goodUntilMs = last.atMs + Math.min(Math.max(rest.leastMs, restMs), rest.mostMs);
    return status;
  };

  return {
    newest,
    /** The same for a scrape, which cannot wait: a minute old at most, null if none comes in time. */
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
