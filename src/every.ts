import { setTimeout as delay } from 'node:timers/promises';

/**
 * Works now, and again after each pause of so many ms, until the signal aborts. What the work throws is
 * told, and no end: a lost database is waited for. `setInterval` of node:timers would make up for
 * rounds that took long, and rejects at the abort.
 */
export async function every(
  pauseMs: number,
  signal: AbortSignal,
  work: () => Promise<void>,
  tell: (error: unknown) => void,
): Promise<void> {
  while (!signal.aborted) {
    await work().catch(tell);
    await delay(pauseMs, undefined, { signal }).catch(() => undefined);
  }
}
