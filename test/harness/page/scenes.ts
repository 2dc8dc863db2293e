import type {
  CoverageDocument,
  QueriesDocument,
  QueryDocument,
  RunsDocument,
  StripsDocument,
  ThroughputDocument,
  TraceDocument,
} from '../../../src/status/endpoints.ts';
import type { FeedStatus, Reason, StatusDocument } from '../../../src/status/schema.ts';
import { answerTo, before, hostile, now, queries, throughput, trace } from './answers.ts';

/** States of a copy that the page must tell apart. */
export const sceneNames = [
  'well',
  'reading',
  'key-refused',
  'no-worker',
  'gap',
  'quarantine',
] as const;
export type SceneName = (typeof sceneNames)[number];

/** What the page reads in one state. */
export interface Scene {
  readonly status: StatusDocument;
  readonly strips: StripsDocument;
  readonly coverage: CoverageDocument;
  readonly throughput: ThroughputDocument;
  readonly runs: RunsDocument;
  readonly queries: QueriesDocument;
  readonly query: QueryDocument;
  readonly trace: TraceDocument;
}

const [minute, hour, day] = [60, 3_600, 86_400];
const none = { least: 0, likely: 0, most: 0 };

function feedOf(chain: readonly [number, string], operation: string, label: string): FeedStatus {
  return {
    feed: `${chain[0]}/${operation}`,
    chain_id: chain[0],
    chain_name: chain[1],
    operation,
    label,
    kind: 'newest-first',
    unit: operation === 'factories' ? 'ranks' : operation.includes('batch') ? 'batches' : 'blocks',
    state: 'current',
    sentence: null,
    failure: null,
    rows: 1_204_332,
    rows_today: 4_210,
    pages: 24_310,
    quarantined: 0,
    schema_drift: 0,
    archived_bytes: 0,
    last_page_at: before(2 * minute),
    last_success_at: before(2 * minute),
    newest_item: { at: before(150), age_s: 150, usual_s: 12, limit_s: 600, is_met: true },
    lag_s: 150,
    poll: {
      last_at: before(2 * minute),
      age_s: 120,
      target: { seconds: 600, from: 'schedule' },
      is_met: true,
      next_at: before(-3 * minute),
    },
    verified: {
      is_verified: true,
      share: 1,
      basis: 'known',
      positions: 18_000_000,
      gaps: 0,
      missing: 0,
      batches: null,
    },
    left: { requests: none, ends_in_s: null, ends_at: null },
    progress: { reached: null, reached_at: null },
    lanes: [
      {
        lane: 'live',
        state: 'idle',
        run_id: 912,
        run_state: 'finished',
        run_opened_at: before(2 * minute),
        reason: null,
        until: null,
        last_success_at: before(2 * minute),
        last_page_at: before(2 * minute),
        pages_per_second: null,
        quiet_s: null,
      },
    ],
  };
}

const [optimism, celo] = [[10, 'optimism'] as const, [42_220, 'celo'] as const];

function feeds(): FeedStatus[] {
  const operations = feedOf(optimism, 'user-operations', 'user operations');
  const blocks = feedOf(optimism, 'optimism-batch-blocks', 'batch blocks');
  const counts = { unread: 0, unverified: 0, without_blocks: 0, quarantined: 0 };
  const batches = { ...counts, requested: 18_204, verified: 18_202, waiting: 2, is_bounded: false };
  return [
    operations,
    { ...feedOf(optimism, 'optimism-batches', 'batches'), rows: 18_204, rows_today: 41 },
    { ...blocks, rows: 3_120_455, verified: { ...blocks.verified, batches } },
    { ...feedOf(optimism, 'factories', 'factories'), rows: 312, rows_today: 0, newest_item: null },
    { ...feedOf(celo, 'user-operations', 'user operations'), rows: 90_621, rows_today: 812 },
    { ...feedOf(celo, 'factories', 'factories'), rows: 88, rows_today: 0, newest_item: null },
  ];
}

function statusOf(
  overall: Omit<StatusDocument['overall'], 'since'>,
  reasons: readonly Reason[],
  changed: readonly FeedStatus[],
): StatusDocument {
  return {
    schema: 'explorer-etl/status/2',
    as_of: now,
    overall: { ...overall, since: before(5 * hour) },
    reasons: [...reasons],
    totals: {
      rows: 4_434_012,
      rows_today: 9_273,
      newest_item_at: before(150),
      verified_share: changed.every(({ verified }) => verified.share === 1) ? 1 : 0.9312,
    },
    credits: {
      spent: 62_400,
      limit: 100_000,
      left: 37_600,
      forecast: { kind: 'enough' },
      keys: [],
    },
    workers: { start: overall.state === 'stopped' ? 0 : 1, once: 0 },
    standby: null,
    next_poll_at: before(-3 * minute),
    feeds: [...changed],
  };
}

const reasonOf = (
  code: Reason['code'],
  severity: Reason['severity'],
  rest: Partial<Reason> & { sentence: string },
): Reason => ({
  code,
  severity,
  blocks_readiness: severity === 'action',
  feeds: [],
  advice: null,
  command: null,
  ...rest,
});

const first = '10/user-operations';
const backfill =
  'explorer-etl backfill --chain 10 --operation user-operations --from-block 128400112 --to-block 128951023';

/** Applies changes to the first feed. */
const withFirst = (change: (feed: FeedStatus) => Partial<FeedStatus>): FeedStatus[] =>
  feeds().map((feed) => (feed.feed === first ? { ...feed, ...change(feed) } : feed));

const statuses: Readonly<Record<SceneName, () => StatusDocument>> = {
  well: () =>
    statusOf(
      { state: 'healthy', sentence: 'All 6 feeds are current and verified.', command: null },
      [],
      feeds(),
    ),
  reading: () =>
    statusOf(
      { state: 'syncing', sentence: 'Reading history of 1 feed, about 2 h left.', command: null },
      [reasonOf('reading', 'info', { feeds: [first], sentence: 'The first read is under way.' })],
      withFirst((feed) => ({
        state: 'running',
        rows: 482_100,
        rows_today: 482_100,
        left: {
          requests: { least: 9_000, likely: 14_200, most: 21_000 },
          ends_in_s: 2 * hour,
          ends_at: before(-2 * hour),
        },
        verified: { ...feed.verified, is_verified: false, share: 0.4, basis: 'estimated' },
        progress: {
          reached: { top: 129_951_023, bottom: 124_400_112 },
          reached_at: null,
        },
        lanes: feed.lanes.map((lane) => ({
          ...lane,
          lane: 'backfill',
          state: 'running',
          run_state: 'open',
          pages_per_second: 4.2,
          quiet_s: 0.2,
        })),
      })),
    ),
  'key-refused': () =>
    statusOf(
      {
        state: 'action-required',
        sentence: 'The explorer refuses the API key.',
        command: 'explorer-etl check',
      },
      [
        reasonOf('key-refused', 'action', {
          feeds: feeds().map(({ feed }) => feed),
          sentence: 'The explorer refuses the API key.',
          advice: 'Set EXPLORER_API_KEY to a valid key; a running worker takes it within a minute.',
          command: 'explorer-etl check',
        }),
      ],
      feeds().map((feed) => ({
        ...feed,
        state: 'blocked',
        failure: 'unauthorized',
        sentence: 'Waits for a usable key.',
        poll: { ...feed.poll, is_met: false, last_at: before(5 * hour), age_s: 5 * hour },
      })),
    ),
  'no-worker': () =>
    statusOf(
      { state: 'stopped', sentence: 'No worker is running.', command: 'explorer-etl start' },
      [
        reasonOf('no-worker', 'warning', {
          sentence: 'No worker is running.',
          advice: 'What is stored is kept; new items are not read.',
          command: 'explorer-etl start',
        }),
      ],
      feeds().map((feed) => ({
        ...feed,
        state: 'behind',
        sentence: null,
        poll: { ...feed.poll, is_met: false, last_at: before(5 * hour), age_s: 5 * hour },
      })),
    ),
  gap: () =>
    statusOf(
      { state: 'degraded', sentence: 'History of 1 feed has 2 gaps.', command: backfill },
      [
        reasonOf('gap', 'warning', {
          feeds: [first],
          sentence: '2 gaps, about 1,240 requests.',
          command: backfill,
        }),
      ],
      withFirst(({ verified }) => ({
        verified: { ...verified, is_verified: false, share: 0.9312, gaps: 2, missing: 1_230_000 },
      })),
    ),
  quarantine: () =>
    statusOf(
      {
        state: 'action-required',
        sentence: '3 items of 1 feed are in quarantine.',
        command: 'explorer-etl quarantine list',
      },
      [
        reasonOf('quarantine', 'action', {
          feeds: [first],
          sentence: '3 items are in quarantine.',
          advice: 'Look at them, then retry or drop them.',
          command: 'explorer-etl quarantine list',
        }),
        reasonOf('late', 'warning', { feeds: [first], sentence: `An item says ${hostile}` }),
      ],
      withFirst(() => ({
        state: 'failing',
        quarantined: 3,
        failure: 'item-invalid',
        chain_name: hostile,
        label: hostile,
        sentence: `Item 0x12: ${hostile}`,
      })),
    ),
};

type Cell = StripsDocument['feeds'][number]['cells'][number];

function cellsOf(name: SceneName, feed: string): Cell[] {
  const isFirst = feed === first;
  const isRanked = feed.endsWith('factories');
  return Array.from({ length: 90 }, (_, index): Cell => {
    if (isRanked) return index < 86 ? 'out-of-range' : 'verified';
    if (index < 12) return 'out-of-range';
    if (!isFirst) return feed.endsWith('blocks') && index === 89 ? 'unverified' : 'verified';
    if (name === 'reading') return index < 60 ? (index < 55 ? 'unknown' : 'reading') : 'verified';
    if (name === 'gap' && [31, 32, 33, 70].includes(index)) return 'gap';
    return name === 'quarantine' && index === 77 ? 'quarantined' : 'verified';
  });
}

const [bottom, top] = [120_000_000, 138_000_000];

function coverageOf(name: SceneName): CoverageDocument {
  const segment = (from: number, to: number, state: Cell) => ({
    from,
    to,
    state,
    from_at: before((top - from) * 2),
    to_at: before((top - to) * 2),
  });
  const isOpen = name === 'gap';
  const gaps = [segment(134_000_000, 134_000_100, 'gap'), segment(128_400_112, 128_951_023, 'gap')];
  return {
    feed: first,
    unit: 'blocks',
    whole: { from: bottom, to: top },
    window: { from: bottom, to: top },
    segments: isOpen
      ? [
          segment(bottom, 128_400_111, 'verified'),
          segment(128_400_112, 128_951_023, 'gap'),
          segment(128_951_024, 133_999_999, 'verified'),
          segment(134_000_000, 134_000_100, 'gap'),
          segment(134_000_101, top, 'verified'),
        ]
      : [segment(bottom, top, 'verified')],
    gaps: isOpen
      ? gaps.map(({ from, to, from_at, to_at }) => ({
          from,
          to,
          from_at,
          to_at,
          requests: 1_240,
          command: backfill,
        }))
      : [],
  };
}

function runsOf(name: SceneName): RunsDocument {
  const runs = feeds().flatMap(({ feed }, at) =>
    Array.from({ length: 24 }, (_, index): RunsDocument['runs'][number] => {
      const began = index * hour + at * 200 + 60;
      const isFailed = name === 'key-refused' && index < 5;
      return {
        id: 1_000 - index * 6 - at,
        feed,
        lane: 'live',
        state: isFailed ? 'failed' : 'finished',
        opened_at: before(began),
        ended_at: before(began - 40 - at * 20),
        pages: 3,
        rows: 117,
        reason: isFailed ? 'The explorer refuses the API key (401).' : null,
      };
    }),
  );
  const long: RunsDocument['runs'][number] = {
    id: 1_001,
    feed: first,
    lane: 'backfill',
    state: name === 'reading' ? 'open' : 'interrupted',
    opened_at: before(7 * hour),
    ended_at: name === 'reading' ? null : before(3 * hour),
    pages: 41_200,
    rows: 2_060_000,
    reason: null,
  };
  return {
    from: before(day),
    to: now,
    runs: [...runs, long].sort((a, b) => b.opened_at.localeCompare(a.opened_at)),
    events: [
      {
        at: before(3 * hour),
        kind: 'killed',
        feed: null,
        sentence: name === 'quarantine' ? hostile : 'A worker was killed.',
      },
      { at: before(9 * hour), kind: 'config-changed', feed: null, sentence: 'A schedule changed.' },
    ],
  };
}

/** Everything that the page reads in one state. */
export function sceneOf(name: SceneName): Scene {
  const status = statuses[name]();
  const cellsOfFeeds = status.feeds.map(({ feed }) => ({ feed, cells: cellsOf(name, feed) }));
  return {
    status,
    strips: { from: '2024-01-01T00:00:00Z', to: now, cells: 90, feeds: cellsOfFeeds },
    coverage: coverageOf(name),
    throughput,
    runs: runsOf(name),
    queries,
    query: answerTo('operations-daily'),
    trace,
  };
}
