import type { StatusDocument } from '../../src/documents/status.ts';
import { judge } from '../../src/report/verdict.ts';

export type ToldFeed = StatusDocument['feeds'][number];
type Lane = ToldFeed['lanes'][number];

export const toldAt = '2026-11-22T11:24:00.000Z';

/** The lane of a feed at rest. */
export const toldLane = (changes: Partial<Lane> = {}): Lane => ({
  lane: 'live',
  run_id: 7,
  run_state: 'finished',
  run_opened_at: '2026-11-22T11:22:00.000Z',
  reason: null,
  stopped_at: null,
  last_success_at: '2026-11-22T11:22:01.000Z',
  last_success_age_s: 119,
  last_page_at: '2026-11-22T11:22:01.000Z',
  last_page_age_s: 119,
  pages_per_second: null,
  state: 'done',
  until: null,
  quiet_s: null,
  left_requests: null,
  ends_in_s: null,
  ends_at: null,
  ...changes,
});

/** A feed that is whole and current. */
export const toldFeed = (changes: Partial<ToldFeed> = {}): ToldFeed => ({
  feed: `${changes.chain_id ?? 10}/${changes.operation ?? 'user-operations'}`,
  chain_id: 10,
  chain_name: 'optimism',
  operation: 'user-operations',
  state: 'current',
  failure: null,
  reason: null,
  rows: 12_000,
  pages: 240,
  quarantined: 0,
  drift: 0,
  archived_bytes: 0,
  running_walks: 0,
  last_page_at: '2026-11-22T11:22:01.000Z',
  last_page_age_s: 119,
  checkpoint_age_s: null,
  last_success_at: '2026-11-22T11:22:01.000Z',
  reached: null,
  batches: null,
  lag_s: 300,
  coverage: { of: 'blocks', unit: 'blocks', covered: 108_907_800, gaps: 0, missing: 0 },
  freshness: {
    looked_at: '2026-11-22T11:22:00.000Z',
    age_s: 120,
    objective: { seconds: 600, from: 'schedule' },
    is_met: true,
  },
  data: {
    newest_at: '2026-11-22T11:19:00.000Z',
    age_s: 180,
    usual_s: 300,
    limit_s: 21_600,
    is_met: true,
  },
  proved: { is_proved: true, share: 1, basis: 'known', numbers: null },
  left: { requests: { least: 0, likely: 0, most: 0 }, ends_at: null },
  next_poll_at: '2026-11-22T11:25:00.000Z',
  lanes: [toldLane()],
  ...changes,
});

/** A feed whose history is being read. */
export const toldReading = (changes: Partial<ToldFeed> = {}): ToldFeed =>
  toldFeed({
    state: 'running',
    coverage: { of: 'blocks', unit: 'blocks', covered: 2_000_000, gaps: 1, missing: 106_907_800 },
    freshness: {
      looked_at: null,
      age_s: null,
      objective: { seconds: 600, from: 'schedule' },
      is_met: null,
    },
    proved: { is_proved: true, share: 0.187, basis: 'at-least', numbers: null },
    left: {
      requests: { least: 1_000, likely: null, most: 5_230 },
      ends_at: '2026-11-22T13:02:00.000Z',
    },
    lanes: [
      toldLane({
        lane: 'backfill',
        run_state: 'open',
        state: 'running',
        last_success_at: null,
        last_success_age_s: null,
        pages_per_second: 0.89,
        quiet_s: 1,
        left_requests: 5_230,
        ends_in_s: 5_880,
        ends_at: '2026-11-22T13:02:00.000Z',
      }),
    ],
    ...changes,
  });

/** Two chains of three lists each. */
export const sixFeeds = (): ToldFeed[] => {
  const none = { waiting: 0, doubtful: 0, without_blocks: 0, quarantined: 0 };
  const numbers = { asked: 10, proved: 6, unread: 4, ...none, is_bounded: false };
  return [
    toldFeed({
      operation: 'factories',
      rows: 300,
      pages: 6,
      coverage: { of: 'ranking', as_of: '2026-11-22T11:20:00.000Z', factories: 300 },
    }),
    toldReading({
      operation: 'optimism-batch-blocks',
      rows: 1_375,
      pages: 30,
      coverage: { of: 'batches', read: 6, settled: 6, newest: 10 },
      proved: { is_proved: true, share: 0.6, basis: 'known', numbers },
      left: {
        requests: { least: 19, likely: 19, most: 19 },
        ends_at: '2026-11-22T11:25:10.000Z',
      },
    }),
    toldFeed(),
    toldFeed({ chain_id: 42_220, chain_name: 'celo', operation: 'factories', rows: 120, pages: 3 }),
    toldFeed({
      chain_id: 42_220,
      chain_name: 'celo',
      operation: 'optimism-batches',
      rows: 940,
      pages: 19,
    }),
    toldReading({ chain_id: 42_220, chain_name: 'celo', rows: 1_204_300 }),
  ];
};

/** What `status` tells, judged by the code. */
export function toldStatus(
  feeds: ToldFeed[],
  changes: Partial<Omit<StatusDocument, 'verdict' | 'feeds'>> = {},
): StatusDocument {
  const credits: StatusDocument['credits'] = {
    spent: 12_400,
    limit: 100_000,
    left: 87_600,
    forecast: { kind: 'enough' },
    keys: [
      {
        spent: 12_400,
        limit: 100_000,
        left: 87_600,
        paused_until: null,
        failure: null,
        reason: null,
      },
    ],
  };
  const facts = { standby: null, workers: { start: 1, once: 0 }, credits, feeds, ...changes };
  return {
    schema: 'explorer-etl/status/1',
    exit: { code: 0, reason: 'done' },
    as_of: toldAt,
    next_poll_at: '2026-11-22T11:25:00.000Z',
    ...changes,
    ...facts,
    verdict: judge(facts),
  };
}
