import { expect, test } from 'vitest';
import { failures, type FailureClass } from '../../../src/failure.ts';
import {
  feedStates,
  overallStates,
  reasonCodes,
  statusDocument,
  type FeedStatus,
  type StatusDocument,
} from '../../../src/status/schema.ts';
import { duringOutage } from '../../../src/status/outages.ts';
import { outageStatus } from '../../../src/status/status.ts';
import { feedOf, laneOf, readingFeed, statusAt, statusOf } from '../../harness/status.ts';
import { expectToFit, usual } from './looks.ts';
import { statusText } from '../../../src/cli/status.ts';

/** The status of six feeds fits a terminal of 80 columns and 24 lines. */
const rows = 24;

const noWorker = { workers: { start: 0, once: 0 } } as const;
const celo = { chain_id: 42_220, chain_name: 'celo' };

/** Two feeds, of which one has a class of failure. */
function failing(state: FeedStatus['state'], failure: FailureClass): StatusDocument {
  const { advice } = failures[failure];
  const until = '2026-11-23T00:00:00.000Z';
  const lanes = [laneOf({ run_state: 'open', state: 'backing-off', until })];
  const sentence = `${failure}: HTTP 503, Service Unavailable. ${advice}`;
  return statusOf([feedOf({ state, failure, sentence, lanes }), feedOf(celo)]);
}

const pausedForDay = {
  ...statusOf([]).credits.keys[0]!,
  paused_until: '2026-11-23T11:20:00.000Z',
  failure: 'throttled' as const,
};
const throttledForDay = statusOf(
  [
    feedOf({
      state: 'blocked',
      failure: 'throttled',
      lanes: [
        laneOf({ run_state: 'open', state: 'backing-off', until: '2026-11-22T11:25:07.000Z' }),
        laneOf({ lane: 'backfill', until: '2026-11-22T11:24:30.000Z' }),
      ],
    }),
  ],
  { credits: { ...statusOf([]).credits, keys: [pausedForDay] } },
);

/** A feed whose history lane is open. */
const doing = (
  state: FeedStatus['state'],
  lane: Partial<FeedStatus['lanes'][number]>,
): FeedStatus =>
  readingFeed({
    state,
    lanes: [laneOf({ lane: 'backfill', run_state: 'open', ...lane })],
  });

const ranked = {
  operation: 'factories',
  label: 'factories',
  kind: 'ranked',
  unit: 'ranks',
} as const;
const batches = {
  requested: 10,
  verified: 7,
  unread: 0,
  waiting: 0,
  unverified: 3,
  without_blocks: 0,
  quarantined: 0,
};

/** Two chains of three lists each. */
const sixFeeds: readonly FeedStatus[] = [
  feedOf(),
  readingFeed({
    operation: 'optimism-batch-blocks',
    label: 'batch blocks',
    kind: 'numbered',
    unit: 'batches',
    rows: 1_375,
    verified: {
      ...feedOf().verified,
      share: 0.6,
      gaps: 1,
      missing: 4,
      batches: { ...batches, verified: 6, unread: 4, unverified: 0, is_bounded: false },
    },
    left: {
      requests: { least: 19, likely: 19, most: 19 },
      ends_in_s: 70,
      ends_at: '2026-11-22T11:25:10.000Z',
    },
  }),
  feedOf({ ...ranked, rows: 300, newest_item: null }),
  readingFeed({ ...celo, rows: 1_204_300 }),
  feedOf({ ...celo, operation: 'optimism-batches', label: 'batches', unit: 'batches', rows: 940 }),
  feedOf({ ...celo, ...ranked, rows: 120 }),
];

const unread: Partial<FeedStatus> = {
  state: 'pending',
  rows: 0,
  rows_today: 0,
  pages: 0,
  last_page_at: null,
  last_success_at: null,
  newest_item: null,
  lag_s: null,
  poll: { ...feedOf().poll, last_at: null, age_s: null, is_met: null },
  verified: {
    ...feedOf().verified,
    is_verified: false,
    share: null,
    basis: 'unknown',
    positions: 0,
  },
  left: { requests: { least: 0, likely: null, most: null }, ends_in_s: null, ends_at: null },
  lanes: [],
};
const late = {
  ...feedOf().poll,
  last_at: '2026-11-19T11:22:00.000Z',
  age_s: 259_320,
  is_met: false,
};
const gap = {
  ...feedOf().verified,
  share: 0.98,
  basis: 'estimated',
  gaps: 2,
  missing: 1_234,
} as const;
const silent = {
  at: '2023-11-14T11:24:00.000Z',
  age_s: 95_385_600,
  usual_s: 300,
  limit_s: 21_600,
  is_met: false,
};

const outage = {
  sentence: 'No answer from api.blockscout.com since 11:58 UTC: connection refused',
  since: '2026-11-22T11:58:00.000Z',
  failure: 'unreachable',
  reason: 'connection refused',
  next_try_at: '2026-11-22T12:00:08.000Z',
  feeds: [feedOf().feed, feedOf(celo).feed],
} as const;

const { credits } = statusOf([feedOf()]);
const limitsDiffer = {
  ...credits,
  keys: credits.keys.map((key) => ({
    ...key,
    limits: [
      { requests_per_second: 5, daily_credits: 100_000, stated_by: ['start of a on host-a'] },
      {
        requests_per_second: 50,
        daily_credits: null,
        stated_by: ['another command on host-b'],
      },
    ],
  })),
};

const scenes: Readonly<Record<string, StatusDocument>> = {
  'everything is current': statusOf([feedOf(), feedOf(celo)]),
  'nothing is there': statusOf([], noWorker),
  'one of two was never read': statusOf([feedOf(), feedOf({ ...celo, ...unread })], noWorker),
  starting: statusOf([feedOf(unread)]),
  paused: statusOf([doing('paused', { state: 'paused' })], noWorker),
  'killed in the middle': statusOf([doing('behind', { state: 'no-worker' })], noWorker),
  'no worker, and it is late': statusOf([feedOf({ state: 'behind', poll: late })], noWorker),
  late: statusOf([feedOf({ state: 'behind', poll: late }), feedOf(celo)]),
  stalled: statusOf([doing('failing', { state: 'quiet', quiet_s: 400 })]),
  'sums and deletions that fail': statusOf([feedOf()], {
    maintenance: [
      {
        task: 'housekeeping',
        reason: 'permission denied for table events (42501)',
        since: '2026-11-21T09:30:00Z',
      },
      { task: 'sums', reason: 'could not extend file (53100)', since: statusAt },
    ],
  }),
  'limits of a key that differ': statusOf([feedOf()], { credits: limitsDiffer }),
  gaps: statusOf([
    feedOf({ state: 'behind', verified: gap }),
    feedOf({ ...celo, state: 'behind', verified: gap }),
  ]),
  'unverified batches': statusOf([
    feedOf({
      state: 'behind',
      unit: 'batches',
      kind: 'numbered',
      verified: { ...gap, gaps: 0, batches: { ...batches, is_bounded: false } },
    }),
  ]),
  'a silent source': statusOf([feedOf({ state: 'behind', newest_item: silent })]),
  'a refused key': failing('blocked', 'unauthorized'),
  'a rejected request': failing('blocked', 'rejected'),
  'an unknown chain': failing('unsupported', 'unknown-chain'),
  'no credits': failing('blocked', 'out-of-credits'),
  throttled: failing('blocked', 'throttled'),
  'throttled for a day': throttledForDay,
  unreachable: failing('failing', 'unreachable'),
  'an explorer that is unreachable': statusOf(
    [doing('failing', { state: 'quiet', quiet_s: 400 }), feedOf({ ...celo, poll: late })],
    { outages: [outage] },
  ),
  'a start that ended in an outage': statusOf(
    [duringOutage(doing('paused', { state: 'paused' }), [outage])],
    { ...noWorker, outages: [outage] },
  ),
  'a disk that is full': failing('failing', 'database-full'),
  quarantine: statusOf([feedOf({ quarantined: 3, state: 'behind' }), feedOf(celo)]),
  'unknown fields': statusOf([feedOf({ schema_drift: 5 })]),
  'an answer in front of the explorer': failing('failing', 'intercepted'),
  'an address without lists': failing('unsupported', 'not-found'),
  'our own limit': failing('blocked', 'daily-limit'),
  'served below zero': statusOf([readingFeed()], {
    credits: { ...statusOf([]).credits, limit: null, left: -170, forecast: { kind: 'no-limit' } },
  }),
  'credits that do not last': statusOf([readingFeed()], {
    credits: {
      ...statusOf([]).credits,
      forecast: { kind: 'lasts-until', at: '2026-11-22T19:40:00.000Z' },
    },
  }),
  'a history that takes days': statusOf([readingFeed()], {
    credits: {
      ...statusOf([]).credits,
      forecast: { kind: 'history-takes-days', days: { least: 0, most: 3 } },
    },
  }),
  'a history that takes more than a year': statusOf([readingFeed()], {
    credits: {
      ...statusOf([]).credits,
      forecast: { kind: 'history-takes-days', days: { least: 0, most: 4_000_000 } },
    },
  }),
  'a database that is gone': outageStatus(
    new Date(statusAt),
    Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }),
  ),
  'much is wrong': statusOf(
    sixFeeds.map((feed, at) => ({
      ...feed,
      state: at % 2 === 0 ? ('failing' as const) : ('blocked' as const),
      failure: at % 2 === 0 ? ('unreachable' as const) : ('rejected' as const),
      sentence: `${feed.feed} reported something that is rather long for a line of a terminal, and goes on and on`,
      quarantined: at,
      schema_drift: 1,
      archived_bytes: 3_000_000_000,
    })),
  ),
};

test('the scenes show every state and every reason', () => {
  const documents = Object.values(scenes);
  const shown = (values: readonly string[]) => [...new Set(values)].toSorted();
  expect(shown(documents.map(({ overall }) => overall.state))).toEqual(
    [...overallStates].toSorted(),
  );
  expect(shown(documents.flatMap(({ feeds }) => feeds.map(({ state }) => state)))).toEqual(
    [...feedStates].toSorted(),
  );
  expect(shown(documents.flatMap(({ reasons }) => reasons.map(({ code }) => code)))).toEqual(
    [...reasonCodes].toSorted(),
  );
});

test('the screen of six feeds matches its snapshot', async () => {
  const text = statusText(statusOf([...sixFeeds]), usual);
  await expect(text).toMatchFileSnapshot('snapshots/status.txt');
});

test('each scene has its headline and its advice', async () => {
  const drawn = Object.entries(scenes).map(([name, document]) => {
    expect(statusDocument.parse(document)).toEqual(document);
    const [head = '', , advice = ''] = statusText(document, usual).trimEnd().split('\n\n');
    return [`# ${name}`, head, advice].filter((part) => part !== '').join('\n');
  });
  await expect(`${drawn.join('\n\n')}\n`).toMatchFileSnapshot('snapshots/status-scenes.txt');
});

test.each(Object.entries(scenes))('%s fits the width of the terminal', (_name, document) => {
  expectToFit((look) => {
    const text = statusText(document, look);
    expect(text.trimEnd().split('\n').length).toBeLessThan(rows);
    return text;
  });
});
