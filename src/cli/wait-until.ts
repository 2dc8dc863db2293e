import { setTimeout as delay } from 'node:timers/promises';

/** How often is looked, in ms. */
const pollMs = 20;

export interface Patience {
  /** Only a hang takes longer, in ms. */
  readonly mostMs: number;
  readonly signal: AbortSignal;
  /** Monotonic, in ms. */
  readonly now?: () => number;
}

/**
 * Looks until something is so, or the signal aborts.
 *
 * @param what names it, for whoever waited in vain
 * @throws where it is not so after the longest time
 */
export async function waitUntil(
  what: string,
  isSo: () => Promise<boolean>,
  { mostMs, signal, now = () => performance.now() }: Patience,
): Promise<void> {
  const started = now();
  while (!signal.aborted && !(await isSo())) {
    if (now() - started >= mostMs) {
      throw new Error(`waited ${mostMs / 1000} seconds in vain for ${what}`);
    }
    await delay(pollMs, undefined, { signal }).catch(() => undefined);
  }
}
