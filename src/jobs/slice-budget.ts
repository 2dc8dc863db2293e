import type { SliceBudget } from '../walk/request.ts';

/** How long a slice runs before it gives way to others, in ms: a few workers serve many lanes fairly. */
const sliceMs = 10_000;

/** How long a slice may run at most, in ms: then a worker that has nothing to do may get it. */
const longestMs = 60_000;

export interface SliceTimes {
  /** Monotonic, in ms. */
  readonly now: () => number;
  readonly stopping: AbortSignal;
  /** Whether another slice is to take its place. */
  readonly givesWay: () => Promise<boolean>;
}

/**
 * What a slice may read: at least one page, however late it starts, unless it is to stop. Where its time is
 * over it gives way, if it has to. Else it goes on: to end it would cost the round trip in which its walks
 * come to rest, 2.5 % of the time at one of 250 ms.
 */
export function openSliceBudget({
  now,
  stopping,
  givesWay,
}: SliceTimes): SliceBudget & { readonly spent: boolean } {
  const started = now();
  let pages = 0;
  let dueMs = started + sliceMs;
  let hasToEnd = false;
  let isLooking = false;
  const look = async () => {
    isLooking = true;
    hasToEnd = now() - started >= longestMs || (await givesWay().catch(() => true));
    dueMs = now() + sliceMs;
    isLooking = false;
  };
  const isSpent = () => stopping.aborted || (pages > 0 && hasToEnd);
  return {
    get spent() {
      return isSpent();
    },
    takePage() {
      // Nobody waits for the answer; until it is there the slice goes on.
      if (now() >= dueMs && !isLooking && !hasToEnd) void look();
      if (isSpent()) return false;
      pages += 1;
      return true;
    },
  };
}
