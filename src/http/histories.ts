import { performance } from 'node:perf_hooks';
import type { Database } from '../db/transaction.ts';

interface Kept {
  /** Until when it is new enough, in ms. */
  until: number;
  readonly value: Promise<unknown>;
}

/** Histories are noted once a minute: who asks more often gets the same. */
const minuteMs = 60_000;
/** A history of 30 days may take so small a part of the time, whoever looks, and however slow the database is. */
const leastRest = 200;
/** So many are kept: all that the page shows at once, and what some readers chose. */
const mostKept = 16;

const keptOf = new WeakMap<Database, Map<string, Kept>>();

/**
 * Reads a history, or tells what was read a moment ago. Those who ask while it is read wait for the same.
 *
 * @param name what is read, with all that it depends on but the time
 * @param at the present, in ms
 */
export async function readHistory<History>(
  { db, name, at }: { readonly db: Database; readonly name: string; readonly at: number },
  read: () => Promise<History>,
): Promise<History> {
  const kept = keptOf.get(db) ?? new Map<string, Kept>();
  keptOf.set(db, kept);
  const known = kept.get(name);
  // A clock that was set back makes nothing new for ever.
  if (known !== undefined && known.until > at && known.until - at <= longestMs) {
    return known.value as Promise<History>;
  }
  const began = performance.now();
  const reading: Kept = { until: at + minuteMs, value: read() };
  kept.delete(name);
  kept.set(name, reading);
  for (const oldest of [...kept.keys()].slice(0, Math.max(0, kept.size - mostKept)))
    kept.delete(oldest);
  try {
    const value = (await reading.value) as History;
    const tookMs = performance.now() - began;
    reading.until = Math.min(at + longestMs, Math.max(at + minuteMs, at + leastRest * tookMs));
    return value;
  } catch (error) {
    if (kept.get(name) === reading) kept.delete(name);
    throw error;
  }
}

/** However slow the database is, a reader sees something new within so long. */
const longestMs = 10 * minuteMs;
