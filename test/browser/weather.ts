import type { RunsDocument, ThroughputDocument } from '../../src/status/endpoints.ts';
import { duringOutage, type Outage } from '../../src/status/outages.ts';
import type { FeedStatus, StatusDocument } from '../../src/status/schema.ts';
import { feedOf, nameOf, readingFeed, statusAt, statusOf } from '../harness/status.ts';

/** Copies that fail, and copies that have just begun, which tests seldom have and users begin with. */
export const weatherNames = [
  'outage',
  'wrong-chain',
  'first-minute',
  'one-day',
  'many',
  'paused',
] as const;
export type WeatherName = (typeof weatherNames)[number];

export const before = (seconds: number): string =>
  new Date(Date.parse(statusAt) - seconds * 1_000).toISOString();
const [minute, day] = [60, 86_400];

export const commands = (['run', 'pause', 'resume'] as const).map((handle) => {
  return { handle, command: `explorer-etl feeds ${handle} --chain 10 --operation user-operations` };
});

const outage: Outage = {
  sentence: 'No answer from api.blockscout.com since 10:52 UTC: HTTP 503, Service Unavailable',
  since: before(32 * minute),
  failure: 'unreachable',
  reason: 'HTTP 503, Service Unavailable',
  next_try_at: before(-38),
  feeds: [
    '10/user-operations',
    '10/optimism-batches',
    '10/optimism-batch-blocks',
    '10/factories',
    '42220/user-operations',
    '42220/factories',
  ],
};

const unread: Partial<FeedStatus> = {
  state: 'pending',
  rows: 0,
  rows_today: 0,
  pages: 0,
  newest_item: null,
  last_page_at: null,
  verified: { ...feedOf().verified, is_verified: false, share: null, basis: 'unknown' },
  lanes: [],
};
const unserved: Partial<FeedStatus> = {
  ...unread,
  chain_id: 100_500,
  chain_name: '100500',
  state: 'unsupported',
  failure: 'unknown-chain',
  sentence: 'unknown-chain: the explorer does not know chain 100500',
};

const chains = ['optimism', 'base', 'arbitrum', 'celo', 'polygon', 'gnosis', 'unichain', 'mode'];
const lists = [
  ['user-operations', 'user operations', 'blocks'],
  ['optimism-batches', 'batches', 'batches'],
  ['optimism-batch-blocks', 'batch blocks', 'blocks'],
  ['factories', 'factories', 'ranks'],
] as const;

const limited: Partial<FeedStatus> = {
  state: 'failing',
  failure: 'forbidden',
  sentence: 'forbidden: HTTP 403, Forbidden',
};

/** 32 feeds, of which three fail alike. */
const many = (): FeedStatus[] =>
  chains.flatMap((chain_name, at) =>
    lists.map(([operation, label, unit], list) => {
      const chain = { chain_id: 10 + at * 1_013, chain_name, operation, label, unit };
      return feedOf({ ...chain, rows: 123_456 * (at + 1), ...(list === 3 && at < 3 && limited) });
    }),
  );

/** A first read that began 40 s ago. */
const young = (changes: Partial<FeedStatus>): FeedStatus => {
  const { lanes, ...reading } = readingFeed();
  const opened = { run_opened_at: before(40), last_page_at: before(1) };
  return {
    ...feedOf({ ...reading, ...changes }),
    rows: 1_150,
    rows_today: 1_150,
    pages: 23,
    last_page_at: before(1),
    last_success_at: null,
    ...(changes.unit === 'ranks' && { verified: { ...reading.verified, gaps: 0, missing: 0 } }),
    lanes: lanes.map((lane) => ({ ...lane, ...opened })),
  };
};

/** Each state of six usual feeds. */
export const weatherStatus: Readonly<Record<WeatherName, (feeds: FeedStatus[]) => StatusDocument>> =
  {
    outage: (feeds) => {
      const waiting = feeds.map((feed) => {
        const late = { ...feed.poll, is_met: false, last_at: outage.since, age_s: 32 * minute };
        return duringOutage({ ...feed, state: 'behind', poll: late }, [outage]);
      });
      return statusOf(waiting, { outages: [outage] });
    },
    'wrong-chain': (feeds) =>
      statusOf([
        ...feeds.slice(0, 3),
        feedOf(unserved),
        feedOf({ ...unserved, operation: 'factories', label: 'factories', unit: 'ranks' }),
      ]),
    'first-minute': () =>
      statusOf([
        young({}),
        young({ operation: 'factories', label: 'factories', unit: 'ranks' }),
        feedOf({ ...unread, operation: 'optimism-batches', label: 'batches', unit: 'batches' }),
      ]),
    'one-day': (feeds) => statusOf(feeds),
    many: () => statusOf(many()),
    paused: (feeds) =>
      statusOf(
        feeds.map((feed, at) =>
          at === 1
            ? {
                ...feed,
                state: 'paused',
                paused_since: before(2 * day),
                poll: { ...feed.poll, target: null, is_met: null, next_at: null },
              }
            : feed,
        ),
        {
          at_rest: ['8453/user-operations', '8453/factories'],
          names: [
            ...feeds.map(nameOf),
            nameOf(feedOf({ chain_id: 8_453, chain_name: 'base' })),
            nameOf(feedOf({ chain_id: 8_453, chain_name: 'base', operation: 'factories' })),
          ],
        },
      ),
  };

type Run = RunsDocument['runs'][number];

const run = (changes: Partial<Run>): Run => ({
  id: 1,
  feed: '10/user-operations',
  lane: 'live',
  state: 'finished',
  opened_at: before(minute),
  ended_at: before(50),
  pages: 3,
  rows: 117,
  failed_requests: 0,
  first_failure: null,
  waited_s: 0,
  reason: null,
  ...changes,
});

/** The runs of a copy's whole life, if it is short, or of its bad hour. */
export const weatherRuns: Partial<Record<WeatherName, (usual: RunsDocument) => RunsDocument>> = {
  outage: (usual) => {
    const failed = outage.feeds.flatMap((feed) =>
      [31, 29, 25, 17, 1].map((ago, at) =>
        run({
          id: 2_000 - at,
          feed,
          state: 'failed',
          opened_at: before(ago * minute),
          ended_at: before(ago * minute - 30),
          pages: 0,
          rows: 0,
          failed_requests: 3,
          first_failure: 'HTTP 503, Service Unavailable',
          waited_s: 12,
          reason: 'unreachable: HTTP 503, Service Unavailable.',
        }),
      ),
    );
    const lost = [3, 7, 12, 20].map((ago) => ({
      at: before(ago * minute),
      kind: 'connection-lost' as const,
      feed: null,
      sentence: 'A worker lost its connection to the database, and has connected again.',
    }));
    const kept = usual.runs.filter(({ opened_at }) => opened_at < outage.since);
    const runs = [...failed, ...kept].sort((a, b) => b.opened_at.localeCompare(a.opened_at));
    return { ...usual, runs, events: [...lost, ...usual.events] };
  },
  'first-minute': (usual) => ({
    ...usual,
    from: before(41),
    runs: ['user-operations', 'factories'].map((operation, at) =>
      run({
        id: 2 - at,
        feed: `10/${operation}`,
        lane: 'backfill',
        state: 'open',
        opened_at: before(40 + at),
        ended_at: null,
        pages: 23,
        rows: 1_150,
      }),
    ),
    events: [],
  }),
};

/** The ledger of a copy of 40 seconds. */
export const weatherThroughput: Partial<
  Record<WeatherName, (usual: ThroughputDocument) => ThroughputDocument>
> = {
  'first-minute': (usual) => ({
    ...usual,
    from: before(60),
    bin_s: 60,
    bins: usual.bins.slice(-1).map((bin) => ({ ...bin, at: before(60), lag_s: null })),
  }),
};
