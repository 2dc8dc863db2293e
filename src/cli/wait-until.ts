import { setTimeout as delay } from 'node:timers/promises';

const pollMs = 20;

interface Limits {
  /** Only a hang takes longer, in ms. */
  readonly mostMs: number;
  readonly signal: AbortSignal;
  /** Monotonic, in ms. */
  readonly now?: () => number;
}

/** Waits until a condition holds, or the signal aborts. @throws after the longest time, naming what it waited for */
export async function waitUntil(
  what: string,
  holds: () => Promise<boolean>,
  { mostMs, signal, now = () => performance.now() }: Limits,
): Promise<void> {
  const started = now();
  while (!signal.aborted && !(await holds())) {
    if (now() - started >= mostMs) throw new Error(`waited ${mostMs / 1000} seconds for ${what}`);
    await delay(pollMs, undefined, { signal }).catch(() => undefined);
  }
}
