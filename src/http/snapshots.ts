import { setTimeout as delay } from 'node:timers/promises';
import type { StatusDocument } from '../documents/status.ts';

/** How far looks are apart. */
export interface Rest {
  /** In ms. */
  readonly leastMs: number;
  /** So many times what a look took. */
  readonly times: number;
  /** In ms. */
  readonly mostMs: number;
}

const usualRest: Rest = { leastMs: 3_000, times: 200, mostMs: 30_000 };

export interface SnapshotOptions {
  /** Does not reject: a database that is away is how all is. */
  readonly read: () => Promise<StatusDocument>;
  /** Monotonic, in ms. */
  readonly now: () => number;
  /** Replaces the usual one. */
  readonly rest?: Rest | undefined;
  /** Ends all that is under way. */
  readonly signal: AbortSignal;
}

/** How all is, some seconds old at most, looked at once for all who ask. */
export interface Snapshots {
  newest(): Promise<StatusDocument>;
  /**
   * Tells of each one that is read from now on. While somebody listens one is read whenever it may be; else
   * none is but for who asks.
   *
   * @returns ends it
   */
  subscribe(listener: (status: StatusDocument) => void): () => void;
}

/** Looks so seldom that it costs a two-hundredth of one core of the database at most, at any size. */
export function createSnapshots({
  read,
  now,
  rest = usualRest,
  signal,
}: SnapshotOptions): Snapshots {
  const listeners = new Set<(status: StatusDocument) => void>();
  let latest: { readonly status: Promise<StatusDocument>; goodUntilMs: number } | null = null;
  let isTurning = false;

  const newest = (): Promise<StatusDocument> => {
    if (latest !== null && now() < latest.goodUntilMs) return latest.status;
    const begun = now();
    const status = read();
    const mine = { status, goodUntilMs: Infinity };
    latest = mine;
    return status.finally(() => {
      const took = now() - begun;
      mine.goodUntilMs = now() + Math.min(Math.max(rest.leastMs, rest.times * took), rest.mostMs);
    });
  };

  const turn = async (): Promise<void> => {
    if (isTurning) return;
    isTurning = true;
    while (listeners.size > 0 && !signal.aborted) {
      const status = await newest();
      for (const listener of listeners) listener(status);
      const restMs = Math.max(0, (latest?.goodUntilMs ?? 0) - now());
      await delay(restMs, undefined, { signal }).catch(() => undefined);
    }
    isTurning = false;
  };

  return {
    newest,
    subscribe(listener) {
      listeners.add(listener);
      void turn();
      return () => void listeners.delete(listener);
    },
  };
}
