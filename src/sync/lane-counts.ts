import { signals } from '../signals.ts';
import type { Lane } from '../lists/tables.ts';

/** What a lane did in some time. */
export interface LaneCounts {
  readonly feed: string;
  readonly lane: Lane;
  readonly pages: number;
  readonly inserted: number;
  readonly changed: number;
  readonly requests: number;
  readonly credits: number;
}

/**
 * Counts what one engine does, lane by lane, from what it publishes.
 *
 * @param by under which the engine publishes it
 */
export function countLanes(by: object): { all(): readonly LaneCounts[]; stop(): void } {
  const lanes = new Map<string, LaneCounts>();
  const add = (feed: string, lane: Lane, more: Partial<LaneCounts>) => {
    const key = `${feed} ${lane}`;
    const known = lanes.get(key);
    const sum = (name: 'pages' | 'inserted' | 'changed' | 'requests' | 'credits') =>
      (known?.[name] ?? 0) + (more[name] ?? 0);
    lanes.set(key, {
      feed,
      lane,
      pages: sum('pages'),
      inserted: sum('inserted'),
      changed: sum('changed'),
      requests: sum('requests'),
      credits: sum('credits'),
    });
  };
  const ends = [
    signals.commit.subscribe((commit) => {
      if (commit.by === by) add(commit.feed, commit.lane, commit);
    }),
    signals.request.subscribe((request) => {
      if (request.by !== by) return;
      const { chain_id, operation, lane, credits } = request;
      add(`${chain_id}/${operation}`, lane, { requests: 1, credits });
    }),
  ];
  return {
    all: () => [...lanes.values()],
    stop() {
      for (const end of ends) end();
    },
  };
}
