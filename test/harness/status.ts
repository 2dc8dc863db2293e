import { creditsOf } from '../../src/status/credits.ts';
import { documentOf } from '../../src/status/status.ts';
import type { OverallFacts } from '../../src/status/facts.ts';
import type { FeedStatus, StatusDocument } from '../../src/status/schema.ts';

export const statusAt = '2026-11-22T11:24:00.000Z';

type Lane = FeedStatus['lanes'][number];

/** The lane of a feed at rest. */
export const laneOf = (changes: Partial<Lane> = {}): Lane => ({
  lane: 'live',
  state: 'idle',
  run_id: 7,
  run_state: 'finished',
  run_opened_at: '2026-11-22T11:22:00.000Z',
  reason: null,
  until: null,
  last_success_at: '2026-11-22T11:22:01.000Z',
  last_page_at: '2026-11-22T11:22:01.000Z',
  pages_per_second: null,
  quiet_s: null,
  ...changes,
});

/** A feed that is complete and current. */
export const feedOf = (changes: Partial<FeedStatus> = {}): FeedStatus => ({
  feed: `${changes.chain_id ?? 10}/${changes.operation ?? 'user-operations'}`,
  chain_id: 10,
  chain_name: 'optimism',
  host: 'api.blockscout.com',
  operation: 'user-operations',
  label: 'user operations',
  wanted_by: ['production'],
  is_wanted: true,
  paused_since: null,
  kind: 'newest-first',
  unit: 'blocks',
  state: 'current',
  sentence: null,
  failure: null,
  rows: 12_000,
  rows_today: 340,
  pages: 240,
  quarantined: 0,
  schema_drift: 0,
  archived_bytes: 0,
  last_page_at: '2026-11-22T11:22:01.000Z',
  last_success_at: '2026-11-22T11:22:01.000Z',
  newest_item: {
    at: '2026-11-22T11:19:00.000Z',
    age_s: 180,
    usual_s: 300,
    limit_s: 21_600,
    is_met: true,
  },
  lag_s: 300,
  poll: {
    last_at: '2026-11-22T11:22:00.000Z',
    age_s: 120,
    target: { seconds: 600, from: 'schedule' },
    is_met: true,
    next_at: '2026-11-22T11:25:00.000Z',
  },
  verified: {
    is_verified: true,
    share: 1,
    basis: 'known',
    positions: 108_907_800,
    gaps: 0,
    missing: 0,
    batches: null,
  },
  left: { requests: { least: 0, likely: 0, most: 0 }, ends_in_s: null, ends_at: null },
  progress: { reached: null, reached_at: null },
  lanes: [laneOf()],
  ...changes,
});

const current = feedOf();

/** A feed whose history is being read. */
export const readingFeed = (changes: Partial<FeedStatus> = {}): FeedStatus =>
  feedOf({
    state: 'running',
    newest_item: null,
    poll: { ...current.poll, last_at: null, age_s: null, is_met: null, next_at: null },
    verified: {
      ...current.verified,
      share: 0.187,
      basis: 'at-least',
      positions: 2_000_000,
      gaps: 1,
      missing: 106_907_800,
    },
    left: {
      requests: { least: 1_000, likely: null, most: 5_230 },
      ends_in_s: 5_880,
      ends_at: '2026-11-22T13:02:00.000Z',
    },
    lanes: [
      laneOf({
        lane: 'backfill',
        run_state: 'open',
        state: 'running',
        last_success_at: null,
        pages_per_second: 0.89,
        quiet_s: 1,
      }),
    ],
    ...changes,
  });

export const nameOf = ({ feed, chain_name, label }: FeedStatus) => ({ feed, chain_name, label });

/** The document of some feeds, judged by the code. */
export function statusOf(
  feeds: FeedStatus[],
  changes: Partial<
    Pick<OverallFacts, 'workers' | 'credits' | 'maintenance' | 'outages' | 'at_rest' | 'names'>
  > = {},
): StatusDocument {
  const at = new Date(statusAt);
  const key = { spent: 12_400, limit: 100_000, left: 87_600 };
  const credits = creditsOf(
    [{ ...key, paused_until: null, failure: null, reason: null, limits: [] }],
    { pollsPerDay: 1_440, history: { least: 0, most: 100 } },
    at,
  );
  const usual = { workers: { start: 1, once: 0 }, maintenance: [], outages: [] };
  const wanted = { deployments: [], at_rest: [], names: feeds.map(nameOf) };
  return documentOf({ at, ...usual, ...wanted, credits, feeds, ...changes });
}
