import { describeDatabaseError } from '../db/failure.ts';
import type { Log } from '../log.ts';

/** Failures so close to each other are of one outage, in ms: all that look do so more often. */
const quietMs = 60_000;

/** A server that comes back says a few different things; more are told again at the next outage. */
const mostTold = 20;

/**
 * Tells each failure of the database once an outage. Whatever looks at the database does so for as
 * long as it is away, twice a second and more: a night was 100,000 lines that said one thing.
 *
 * @param now monotonic, in ms
 */
export function tellOutages(log: Log, event: string, now: () => number): (error: unknown) => void {
  const told = new Set<string>();
  let lastMs = -Infinity;
  return (error) => {
    if (now() - lastMs > quietMs) told.clear();
    lastMs = now();
    const text = describeDatabaseError(error);
    if (told.has(text) || told.size === mostTold) return;
    told.add(text);
    log.warn({ error: text }, event);
  };
}
