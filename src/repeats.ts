/**
 * How long after its last time a failure counts as the same one, in ms: twice the longest rest of a feed
 * that fails (src/sync/failures.ts), so that an outage of a night is one.
 */
const windowMs = 20 * 60_000;

/** When a failure is logged again at the earliest, in ms: doubled each time, up to the longest. */
const firstIntervalMs = 60_000;
const longestIntervalMs = 60 * 60_000;

/** Different failures of one trouble; of a service that invents reasons without end each class is one more. */
const mostKinds = 20;

/** Troubles that are remembered: some for each feed of a large configuration. The oldest is forgotten. */
const mostTroubles = 1_000;

interface Repeat {
  times: number;
  lastMs: number;
  toldMs: number;
  intervalMs: number;
}

interface Trouble {
  readonly kinds: Map<string, Repeat>;
  /** When it failed first since it was over, monotonic; null: it is over. */
  failingSinceMs: number | null;
  /** Whether the last log line about it says that it fails. */
  isToldFailing: boolean;
  /** When it was over last, monotonic. */
  endedMs: number;
}

/** Whether something is logged now, and how often it happened since. */
export interface Count {
  readonly isTold: boolean;
  readonly times: number;
}

/** Counts what fails again and again, so that a log has it at growing intervals and not each time. */
export interface Repeats {
  /**
   * @param kind what makes two failures the same; digits in it, such as times, do not
   * @param group what is counted as one where there are too many kinds: one of few
   */
  count(trouble: string, kind: string, group?: string): Count;
  /**
   * The end of a failure is logged if the last log line says that it fails, or nothing is known of it
   * for 20 minutes.
   */
  end(trouble: string): Count;
}

/** @param now monotonic, in ms */
export function countRepeats(now: () => number): Repeats {
  const troubles = new Map<string, Trouble>();
  return {
    count(name, what, group = '') {
      const trouble = troubles.get(name) ?? {
        kinds: new Map<string, Repeat>(),
        failingSinceMs: null,
        isToldFailing: false,
        endedMs: -Infinity,
      };
      remember(troubles, name, trouble);
      forgetOld(trouble, now());
      trouble.failingSinceMs ??= now();
      const repeat = repeatOf(trouble, what.replaceAll(/\d+/gu, '0'), group);
      repeat.times += 1;
      repeat.lastMs = now();
      const isTold = now() - repeat.toldMs >= repeat.intervalMs || isBackToStay(trouble, now());
      if (isTold) {
        repeat.intervalMs =
          repeat.times === 1 ? firstIntervalMs : Math.min(2 * repeat.intervalMs, longestIntervalMs);
        repeat.toldMs = now();
        trouble.isToldFailing = true;
      }
      return { isTold, times: repeat.times };
    },
    end(name) {
      const trouble = troubles.get(name);
      // Only another process saw it fail: each of a key's feeds recovers, and the first one says so.
      if (trouble === undefined || trouble.kinds.size === 0) {
        const isTold = trouble === undefined || now() - trouble.endedMs > windowMs;
        const ended = { kinds: new Map(), failingSinceMs: null, isToldFailing: false };
        remember(troubles, name, { ...ended, endedMs: now() });
        return { isTold, times: 0 };
      }
      // It stays known: one that fails again in a minute goes on being counted.
      const isTold = trouble.isToldFailing;
      trouble.isToldFailing = false;
      trouble.failingSinceMs = null;
      return {
        isTold,
        times: [...trouble.kinds.values()].reduce((sum, { times }) => sum + times, 0),
      };
    },
  };
}

/** What came last is at the end; at the beginning is what to forget. */
function remember(troubles: Map<string, Trouble>, name: string, trouble: Trouble): void {
  troubles.delete(name);
  troubles.set(name, trouble);
  const [oldest] = troubles.keys();
  if (troubles.size > mostTroubles && oldest !== undefined) troubles.delete(oldest);
}

/** Whether the last log line says that it is over, and it fails again for longer than a moment. */
const isBackToStay = ({ isToldFailing, failingSinceMs }: Trouble, nowMs: number) =>
  !isToldFailing && failingSinceMs !== null && nowMs - failingSinceMs >= firstIntervalMs;

function forgetOld({ kinds }: Trouble, nowMs: number): void {
  for (const [kind, { lastMs }] of kinds) if (nowMs - lastMs > windowMs) kinds.delete(kind);
}

function repeatOf({ kinds }: Trouble, what: string, group: string): Repeat {
  const kind = kinds.has(what) || kinds.size < mostKinds ? what : group;
  const repeat = kinds.get(kind) ?? { times: 0, lastMs: 0, toldMs: -Infinity, intervalMs: 0 };
  kinds.set(kind, repeat);
  return repeat;
}
