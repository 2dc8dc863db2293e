import { setTimeout as delay } from 'node:timers/promises';

/**
 * Works now and after each pause of so many ms, until the signal aborts. A failure is reported, and the loop goes on:
 * a lost database is waited for. `setInterval` would make up for long rounds and reject at the abort.
 */
export async function every(
  pauseMs: number,
  signal: AbortSignal,
  work: () => Promise<void>,
  report: (error: unknown) => void,
): Promise<void> {
  while (!signal.aborted) {
    await work().catch(report);
    await delay(pauseMs, undefined, { signal }).catch(() => undefined);
  }
}
