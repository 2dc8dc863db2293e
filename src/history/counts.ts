import type { FailureClass } from '../failure.ts';
import type { Lane } from '../lists/tables.ts';
import { signals } from '../signals.ts';

/** What a lane did in some time. */
export interface LaneCounts {
  readonly feed: string;
  readonly lane: Lane;
  pages: number;
  inserted: number;
  changed: number;
  quarantined: number;
  requests: number;
  credits: number;
  /** Requests that failed, by class. */
  readonly failures: Partial<Record<FailureClass, number>>;
}

/** Counts that wait to be written. */
export interface Counter {
  /** All that was counted since the last time; it begins at nothing again. */
  take(): LaneCounts[];
  /** Counts again what could not be written. */
  giveBack(counts: readonly LaneCounts[]): void;
  /** Counts no more. */
  stop(): void;
}

/**
 * Counts what one engine does, lane by lane, from what it tells.
 *
 * @param by under which the engine tells it
 */
export function countLanes(by: object): Counter {
  const lanes = new Map<string, LaneCounts>();
  const of = (feed: string, lane: Lane): LaneCounts => {
    const key = `${feed} ${lane}`;
    const known = lanes.get(key);
    if (known !== undefined) return known;
    const counts = { feed, lane, ...nothing(), failures: {} };
    lanes.set(key, counts);
    return counts;
  };
  const ends = [
    signals.commit.listen((commit) => {
      if (commit.by === by) add(of(commit.feed, commit.lane), commit);
    }),
    signals.request.listen(({ by: whose, chain_id, operation, lane, outcome, credits }) => {
      if (whose !== by) return;
      const failures = outcome === 'ok' ? {} : { [outcome]: 1 };
      add(of(`${chain_id}/${operation}`, lane), { requests: 1, credits, failures });
    }),
  ];
  return {
    take() {
      const taken = [...lanes.values()];
      lanes.clear();
      return taken;
    },
    giveBack(counts) {
      for (const count of counts) add(of(count.feed, count.lane), count);
    },
    stop() {
      for (const end of ends) end();
    },
  };
}

const nothing = () => ({
  pages: 0,
  inserted: 0,
  changed: 0,
  quarantined: 0,
  requests: 0,
  credits: 0,
});
const summed = Object.keys(nothing()) as (keyof ReturnType<typeof nothing>)[];

function add(counts: LaneCounts, more: Partial<Omit<LaneCounts, 'feed' | 'lane'>>): void {
  for (const name of summed) counts[name] += more[name] ?? 0;
  for (const [failure, times] of Object.entries(more.failures ?? {})) {
    const failed = failure as FailureClass;
    counts.failures[failed] = (counts.failures[failed] ?? 0) + times;
  }
}
