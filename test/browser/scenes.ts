import type {
  CoverageDocument,
  QueriesDocument,
  QueryDocument,
  RunsDocument,
  StripsDocument,
  ThroughputDocument,
  TraceDocument,
} from '../../src/status/endpoints.ts';
import type { FeedStatus, StatusDocument } from '../../src/status/schema.ts';
import { feedOf, readingFeed, statusAt, statusOf } from '../harness/status.ts';
import {
  before,
  commands,
  weatherNames,
  weatherRuns,
  weatherStatus,
  weatherThroughput,
  type WeatherName,
} from './weather.ts';

/** How a service may name things. */
export const hostile = `"><script>document.title = 'owned'</script><img src=x onerror="document.title='owned'">`;

/** When all documents are of. */
const now = statusAt;

const [hour, day] = [3_600, 86_400];
const days = Array.from({ length: 30 }, (_, index) => before((29 - index) * day).slice(0, 10));

const queries: QueriesDocument = {
  queries: [
    {
      name: 'entry-points',
      topic: 'Operations',
      title: 'What share has each version of the entry point?',
      sql: 'select 1',
      chart: { kind: 'shares', x: 'day', y: 'operations', series: 'version', unit: '%' },
    },
    {
      name: 'operations-daily',
      topic: 'Operations',
      title: 'How many user operations are there a day?',
      sql: 'select day, chain_id, sum(operations) as operations\nfrom explorer.operations_daily\ngroup by 1, 2',
      chart: { kind: 'line', x: 'day', y: 'operations', series: 'chain_id', unit: 'operations' },
    },
    {
      name: 'biggest-factories',
      topic: 'Wallets',
      title: 'Which factories made most accounts?',
      sql: 'select 1',
      chart: { kind: 'bars', x: 'name', y: 'total_accounts', series: null, unit: 'accounts' },
    },
    {
      name: 'top-senders',
      topic: 'Wallets',
      title: 'Who sends the most?',
      sql: 'select 1',
      chart: { kind: 'bars', x: 'sender_hash', y: 'operations', series: null, unit: 'operations' },
    },
    {
      name: 'what-is-missing',
      topic: 'Data',
      title: 'What is missing?',
      sql: 'select 1',
      chart: null,
    },
  ],
  dictionary: [
    {
      relation: 'explorer.user_operations',
      comment: 'One row for each ERC-4337 user operation.',
      columns: [{ name: 'hash', type: 'text', comment: `Hash of the operation. ${hostile}` }],
    },
  ],
};

/** Numbers as long as the chains make them. */
const topSenders: Pick<QueryDocument, 'columns' | 'rows'> = {
  columns: [
    { name: 'sender_hash', type: 'text' },
    { name: 'operations', type: 'bigint' },
    { name: 'fee_native', type: 'numeric' },
    { name: 'mean_fee_native', type: 'numeric' },
    { name: 'native_symbol', type: 'text' },
  ],
  rows: Array.from({ length: 12 }, (_, at) => [
    `0x${String(at).padStart(2, '0')}f39fd6e51aad88f6f4ce6ab8827279cfffb922`,
    4_120_345 - at,
    '131283.471283991204412345',
    '0.000000128349',
    'ETH',
  ]),
};

/** The answer to a named query, of a copy of so many days. */
export function answerTo(name: string, lastDays = days.length): QueryDocument {
  const sums = { up_to: '2026-10-20T06:20:00.000Z', stale: 0, sentence: 'sums up to 06:20 UTC' };
  const document = { name, is_cut: false, sums, ms: 42 };
  if (name === 'biggest-factories') {
    const columns = [
      { name: 'name', type: 'text' },
      { name: 'total_accounts', type: 'bigint' },
    ];
    const rows = ['Coinbase Smart Wallet', 'Safe', hostile].map((each, at) => [
      each,
      4_120_345 - at * 1_700_000,
    ]);
    return { ...document, columns, rows };
  }
  if (name === 'top-senders') return { ...document, ...topSenders };
  const isShares = name === 'entry-points';
  const rows = days
    .slice(-lastDays)
    .flatMap((date, at) =>
      (isShares ? ['v0.6', 'v0.7', 'v0.8'] : [10, 42_220]).map((series, row) => [
        date,
        series,
        String(Math.round(14_000 / (row + 1) + 2_000 * Math.sin(at / 3 + row))),
      ]),
    );
  return {
    ...document,
    columns: [
      { name: 'day', type: 'date' },
      isShares ? { name: 'version', type: 'text' } : { name: 'chain_id', type: 'bigint' },
      { name: 'operations', type: 'bigint' },
    ],
    rows,
  };
}

const trace: TraceDocument = {
  term: '128400112',
  is: 'height',
  hint: null,
  rows: [
    {
      relation: 'explorer.user_operations',
      key: '0x5e1f…, chain 10',
      columns: [
        { name: 'block_number', value: '128400112', native: null },
        { name: 'sender_name', value: hostile, native: null },
        { name: 'fee', value: '131283471283', native: '0.000000131283471283' },
      ],
      native_symbol: 'ETH',
      page: {
        id: 24_310,
        walk_id: 41,
        feed: '10/user-operations',
        sequence: 12,
        fetched_at: before(3 * day),
        cursor: 'page_token=128400200',
        body: JSON.stringify({ items: [{ name: hostile }] }),
      },
      changes: [{ at: before(day), sentence: 'status changed from pending to included.' }],
    },
  ],
};

const throughput: ThroughputDocument = {
  from: before(day),
  to: now,
  bin_s: 900,
  bins: Array.from({ length: 96 }, (_, index) => ({
    at: before(day - index * 900),
    pages: 12,
    rows: Math.round(400 + 300 * Math.sin(index / 9) + 90 * Math.sin(index * 2)),
    credits: 60,
    lag_s:
      index % 3 === 0 ? 60 + 40 * Math.sin(index / 5) + (index > 60 && index < 70 ? 900 : 0) : null,
  })),
};

/** States of a copy that the page must show differently. */
const usualNames = ['well', 'reading', 'key-refused', 'no-worker', 'gap', 'quarantine'] as const;
type UsualName = (typeof usualNames)[number];
export const sceneNames = [...usualNames, ...weatherNames] as const;
export type SceneName = (typeof sceneNames)[number];

/** What the page reads in one state. */
export interface Scene {
  readonly status: StatusDocument;
  readonly strips: StripsDocument;
  readonly coverage: CoverageDocument;
  readonly throughput: ThroughputDocument;
  readonly runs: RunsDocument;
  readonly queries: QueriesDocument;
  /** How many days have data. */
  readonly days: number;
  readonly trace: TraceDocument;
}

const celo = { chain_id: 42_220, chain_name: 'celo' };
const first = '10/user-operations';
const backfill =
  'explorer-etl backfill --chain 10 --operation user-operations --from-block 128400112 --to-block 128951023';

/** Six current feeds of two chains. */
function feeds(change: Partial<FeedStatus> = {}): FeedStatus[] {
  const counts = { unread: 0, unverified: 0, without_blocks: 0, quarantined: 0 };
  const batches = { ...counts, requested: 18_204, verified: 18_202, waiting: 2, is_bounded: false };
  const numbered = { kind: 'numbered', unit: 'batches', rows: 3_120_455 } as const;
  const ranked = {
    operation: 'factories',
    kind: 'ranked',
    unit: 'ranks',
    newest_item: null,
  } as const;
  return [
    feedOf({ rows: 1_204_332, ...change }),
    feedOf({ operation: 'optimism-batches', label: 'batches', unit: 'batches', ...change }),
    feedOf({
      operation: 'optimism-batch-blocks',
      label: 'batch blocks',
      ...numbered,
      verified: { ...feedOf().verified, batches },
      ...change,
    }),
    feedOf({ ...ranked, label: 'factories', rows: 312, ...change }),
    feedOf({ ...celo, rows: 90_621, ...change }),
    feedOf({ ...celo, ...ranked, label: 'factories', rows: 88, ...change }),
  ];
}

/** The same, with a change of the first. */
function withFirst(changed: FeedStatus): FeedStatus[] {
  const [, ...others] = feeds();
  return [changed, ...others];
}

const latePoll = { ...feedOf().poll, is_met: false, last_at: before(5 * hour), age_s: 5 * hour };

const statuses: Readonly<Record<UsualName, () => StatusDocument>> = {
  well: () => statusOf(feeds()),
  reading: () => statusOf(withFirst(readingFeed())),
  'key-refused': () =>
    statusOf(
      feeds({
        state: 'blocked',
        failure: 'unauthorized',
        sentence: 'Waits for a usable key.',
        poll: latePoll,
      }),
    ),
  'no-worker': () =>
    statusOf(feeds({ state: 'behind', poll: latePoll, last_page_at: before(5 * hour) }), {
      workers: { start: 0, once: 0 },
    }),
  gap: () => {
    const verified = { is_verified: false, share: 0.9312, gaps: 2, missing: 1_230_000 };
    return statusOf(withFirst(feedOf({ verified: { ...feedOf().verified, ...verified } })));
  },
  quarantine: () =>
    statusOf(
      withFirst(
        feedOf({
          state: 'failing',
          quarantined: 3,
          failure: 'truncated',
          chain_name: hostile,
          label: hostile,
          sentence: `Item 0x12: ${hostile}`,
        }),
      ),
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

/** What is not verified, ascending. */
const unverified: Partial<Record<SceneName, readonly (readonly [number, number, Cell])[]>> = {
  reading: [
    [bottom, 127_999_999, 'unknown'],
    [128_000_000, 129_499_999, 'reading'],
  ],
  gap: [
    [128_400_112, 128_951_023, 'gap'],
    [134_000_000, 134_000_100, 'gap'],
  ],
  quarantine: [[135_200_000, 135_200_400, 'quarantined']],
};

function coverageOf(ranges: NonNullable<(typeof unverified)[SceneName]>): CoverageDocument {
  const between = (from: number, to: number) => ({
    from,
    to,
    from_at: before((top - from) * 2),
    to_at: before((top - to) * 2),
  });
  const segment = (from: number, to: number, state: Cell) => ({ ...between(from, to), state });
  const open = ranges.map((range) => segment(...range));
  const starts = [bottom, ...open.map(({ to }) => to + 1)];
  const ends = [...open.map(({ from }) => from - 1), top];
  const verified = starts.map((from, at) => segment(from, ends[at] ?? top, 'verified'));
  const parts = verified.flatMap((part, at) => [part, ...open.slice(at, at + 1)]);
  const gaps = ranges.filter(([, , state]) => state === 'gap').toReversed();
  return {
    feed: first,
    unit: 'blocks',
    whole: { from: bottom, to: top },
    window: { from: bottom, to: top },
    segments: parts.filter(({ from, to }) => from <= to),
    gaps: gaps.map(([from, to]) => ({ ...between(from, to), requests: 1_240, command: backfill })),
    commands,
  };
}

const untroubled = { failed_requests: 0, first_failure: null, waited_s: 0 } as const;

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
        ...(index === 7
          ? { failed_requests: 5, first_failure: 'connection refused', waited_s: 123 }
          : untroubled),
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
    ...untroubled,
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
      { at: before(9 * hour), kind: 'stopped', feed: null, sentence: 'A start was stopped.' },
    ],
  };
}

const isWeather = (name: SceneName): name is WeatherName =>
  (weatherNames as readonly string[]).includes(name);

/** Everything that the page reads in one state. */
export function sceneOf(name: SceneName): Scene {
  const status = isWeather(name) ? weatherStatus[name](feeds()) : statuses[name]();
  const cellsOfFeeds = status.feeds.map(({ feed }) => ({ feed, cells: cellsOf(name, feed) }));
  const scene = {
    status,
    strips: {
      from: name === 'first-minute' ? before(90) : '2024-01-01T00:00:00Z',
      to: now,
      cells: 90,
      feeds: cellsOfFeeds,
    },
    coverage: coverageOf(unverified[name] ?? []),
    throughput,
    runs: runsOf(name),
    queries,
    days: name === 'one-day' ? 1 : days.length,
    trace,
  };
  if (!isWeather(name)) return scene;
  const runs = weatherRuns[name]?.(scene.runs) ?? scene.runs;
  return { ...scene, runs, throughput: weatherThroughput[name]?.(throughput) ?? throughput };
}
