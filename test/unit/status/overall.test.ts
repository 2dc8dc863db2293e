import { expect, test } from 'vitest';
import { StandbyError } from '../../../src/db/state.ts';
import { failures } from '../../../src/failure.ts';
import { statusDocument, type FeedStatus, type Reason } from '../../../src/status/schema.ts';
import { duringOutage } from '../../../src/status/outages.ts';
import { outageStatus } from '../../../src/status/status.ts';
import { feedOf, laneOf, readingFeed, statusAt, statusOf } from '../../harness/status.ts';

const noWorker = { start: 0, once: 0 };
const met = feedOf().poll;
const late = { ...met, is_met: false };
const unread = { is_verified: false, share: null, basis: 'unknown', positions: 0 } as const;
const gap = { ...feedOf().verified, share: 0.5, gaps: 2, missing: 1_234 };
const open = (state: FeedStatus['lanes'][number]['state'], quiet_s: number | null = null) => [
  laneOf({ lane: 'backfill', run_state: 'open', state, quiet_s }),
];

type Feeds = (Partial<FeedStatus> | FeedStatus)[];
type World = Parameters<typeof statusOf>[1];
const paused = { state: 'paused', lanes: open('paused') } as const;

test.each<[state: string, what: string, feeds: Feeds, world?: World]>([
  ['healthy', 'of whole and current feeds', [{}, {}]],
  ['healthy', 'without a worker while nothing is due', [{}], { workers: noWorker }],
  ['syncing', 'while a worker reads history', [{}, readingFeed()]],
  ['syncing', 'before the first page', [{ state: 'pending', pages: 0 }]],
  ['syncing', 'before the first feed', []],
  ['stopped', 'of nothing, without a worker', [], { workers: noWorker }],
  ['stopped', 'without a worker once a poll is due', [{ poll: late }], { workers: noWorker }],
  ['stopped', 'after Ctrl-C', [paused], { workers: noWorker }],
  ['degraded', 'if another feed is paused while a worker runs', [{}, paused]],
  ['degraded', 'with a late poll', [{ poll: late }]],
  ['degraded', 'with a gap that no worker reads', [{ verified: gap }]],
  ['degraded', 'if the key is throttled', [{ state: 'blocked', failure: 'throttled' }]],
  [
    'action-required',
    'if the key is refused, whatever else',
    [{ poll: late }, { state: 'blocked', failure: 'unauthorized' }],
    { workers: noWorker },
  ],
  ['action-required', 'if a request is rejected', [{ state: 'blocked', failure: 'rejected' }]],
  [
    'action-required',
    'on a chain that the service does not know',
    [{ state: 'unsupported', failure: 'unknown-chain' }],
  ],
  ['action-required', 'with an item in quarantine', [{ quarantined: 3 }]],
])('the overall state is %s %s', (state, _what, feeds, world) => {
  const document = statusOf(
    feeds.map((feed, at) => feedOf({ chain_id: at + 1, ...feed })),
    world,
  );
  expect(statusDocument.parse(document).overall.state).toBe(state);
});

test.each<[blocks: boolean, feed: Partial<FeedStatus>]>([
  [false, { quarantined: 1 }],
  [false, { verified: gap }],
  [false, { state: 'unsupported', failure: 'unsupported' }],
  [false, { state: 'failing', failure: 'unreachable' }],
  [false, readingFeed()],
  [true, { state: 'blocked', failure: 'key-missing' }],
  [true, { state: 'blocked', failure: 'rejected' }],
  [true, { state: 'blocked', failure: 'out-of-credits' }],
  [true, { poll: late }],
  [true, paused],
  [true, { state: 'failing', lanes: open('quiet', 400) }],
  [true, { lanes: open('no-worker') }],
  [
    true,
    { newest_item: { at: statusAt, age_s: 9e4, usual_s: 60, limit_s: 21_600, is_met: false } },
  ],
])('only a reason that stops progress blocks readiness: %j %j', (blocks, feed) => {
  const { reasons } = statusOf([feedOf(feed)]);
  expect(reasons.some((reason) => reason.blocks_readiness)).toBe(blocks);
});

test('a feed that a person has paused keeps its state in an outage, and one that a worker left fails with it', () => {
  const outage = {
    sentence: 'No answer from api.blockscout.com since 11:02 UTC: connection refused',
    since: '2026-11-22T11:02:00.000Z',
    failure: 'unreachable',
    reason: 'connection refused',
    next_try_at: '2026-11-22T11:24:08.000Z',
    feeds: [feedOf().feed],
  } as const;
  const stateOf = (feed: Partial<FeedStatus>) => duringOutage(feedOf(feed), [outage]).state;
  expect([stateOf({ ...paused, paused_since: statusAt }), stateOf(paused)]).toEqual([
    'paused',
    'failing',
  ]);

  const { overall, reasons } = statusOf([feedOf(paused)], { workers: noWorker, outages: [outage] });
  expect(overall).toMatchObject({ state: 'stopped', sentence: 'No worker.', since: null });
  expect(reasons.map(({ code }) => code)).toEqual(['no-worker', 'explorer-unreachable']);
});

test('credits ended by our own daily limit name the limit, its file and the time', () => {
  const said =
    'daily-limit: the 40 credits of a day are used (daily_credits in /a/explorer-etl.yaml); no request before 2026-11-23 00:00:00 UTC.';
  const sentence = `${said} ${failures['daily-limit'].advice}`;
  const { overall, reasons } = statusOf([
    feedOf({ state: 'blocked', failure: 'daily-limit', sentence }),
  ]);
  expect(overall.sentence).toBe(said.replace('daily-limit: the', 'The'));
  expect(reasons[0]).toMatchObject({ advice: failures['daily-limit'].advice });
});

/** What a person reads of each reason. */
const said = (reasons: readonly Reason[]) =>
  reasons.map(({ feeds, sentence, command }) => [feeds.length, sentence, command]);

test('feeds with the same reason are named together, the most severe first', () => {
  const { overall, reasons } = statusOf([
    feedOf({ verified: gap }),
    feedOf({ chain_id: 1, verified: { ...gap, missing: 5 }, quarantined: 1 }),
    feedOf({ chain_id: 8453, poll: met }),
  ]);
  expect(said(reasons)).toEqual([
    [1, '1 item in quarantine.', 'explorer-etl quarantine list'],
    [2, 'History not downloaded; no backfill is running.', 'explorer-etl backfill'],
  ]);
  expect(overall.sentence).toBe('1/user-operations: 1 item in quarantine.');
});

test('feeds whose failures need different advice have a reason each', () => {
  const failed = (['database-full', 'database-login'] as const).map((failure, at) =>
    feedOf({ chain_id: at + 1, state: 'failing', failure }),
  );

  expect(statusOf(failed).reasons.map(({ advice }) => advice)).toEqual([
    failures['database-full'].advice,
    failures['database-login'].advice,
  ]);
});

test.each<[code: Reason['code'], Partial<FeedStatus>]>([
  ['unsupported', { state: 'unsupported', failure: 'unsupported' }],
  ['key-refused', { state: 'blocked', failure: 'unauthorized' }],
  ['out-of-credits', { state: 'blocked', failure: 'out-of-credits' }],
])('what the explorer gives nothing for has one reason: %s', (code, feed) => {
  const unverified = { ...feedOf().verified, ...unread };
  const worlds: Partial<FeedStatus>[] = [
    { verified: unverified },
    { verified: gap },
    { verified: gap, poll: late },
    { verified: unverified, lanes: open('backing-off') },
  ];
  const codes = worlds.map((world) =>
    statusOf([feedOf({ ...world, ...feed })]).reasons.map((reason) => reason.code),
  );
  expect(codes).toEqual(worlds.map(() => [code]));
});

test('a process whose key is refused is named while another key brings pages', () => {
  const at = { spent: 40, limit: null, left: null, paused_until: null, reason: null };
  const limits = (...stated_by: string[]) => [
    { requests_per_second: 5, daily_credits: null, stated_by },
  ];
  const credits = (failure: 'unauthorized' | null, ...users: string[]) => ({
    ...statusOf([]).credits,
    keys: [
      { ...at, failure: null, limits: limits('start of a on host-a') },
      { ...at, failure, limits: users.length === 0 ? [] : limits(...users) },
    ],
  });
  const refused = credits('unauthorized', 'start of b on host-b');
  const { overall, reasons } = statusOf([feedOf()], { credits: refused });
  expect(overall.state).toBe('action-required');
  expect(reasons.map(({ code, feeds, sentence }) => ({ code, feeds, sentence }))).toEqual([
    {
      code: 'key-refused',
      feeds: [],
      sentence:
        'The explorer does not accept the API key of start of b on host-b: correct it there, and restart.',
    },
  ]);
  // No process uses it, or the feeds that it fails say so.
  expect(statusOf([feedOf()], { credits: credits('unauthorized') }).reasons).toEqual([]);
  const blocked = feedOf({ state: 'blocked', failure: 'unauthorized' });
  expect(statusOf([blocked], { credits: refused }).reasons).toHaveLength(1);
});

test('a command that concerns one feed is narrowed to it', () => {
  expect(said(statusOf([feedOf({ verified: gap }), feedOf({ chain_id: 1 })]).reasons)).toEqual([
    [
      1,
      '1,234 blocks not downloaded; no backfill is running.',
      'explorer-etl backfill --chain 10 --operation user-operations',
    ],
  ]);
});

test('each feed has the reason for its state, without advice', () => {
  const sentence =
    'unreachable: connection refused. Nothing to do: start retries it at growing intervals; check the network and EXPLORER_BASE_URL if it lasts.';
  const { feeds, reasons } = statusOf([
    feedOf({ state: 'failing', failure: 'unreachable', sentence }),
    feedOf({ chain_id: 1 }),
  ]);
  expect(feeds.map((feed) => feed.sentence)).toEqual(['unreachable: connection refused.', null]);
  expect(reasons[0]?.advice).toMatch(/^Nothing to do: start retries it/u);
});

test('without a worker, the reason has the time of the last page and the command that ran', () => {
  const due = feedOf({ poll: late, lanes: [laneOf()] });
  expect(statusOf([due], { workers: noWorker }).overall).toEqual({
    state: 'stopped',
    sentence: 'No worker. No page since 11:22 UTC.',
    since: '2026-11-22T11:22:01.000Z',
    command: 'explorer-etl start',
  });
  const daily = { ...late, target: { seconds: 93_600, from: 'daily' as const } };
  expect(statusOf([feedOf({ poll: daily })], { workers: noWorker }).overall.command).toBe(
    'explorer-etl sync',
  );
  const ofNoFile = feedOf({ poll: daily, wanted_by: [] });
  expect(statusOf([ofNoFile], { workers: noWorker }).overall.command).toBe(
    `explorer-etl sync --chain ${ofNoFile.chain_id} --operation ${ofNoFile.operation}`,
  );
});

test('history that is unread for lack of a worker is not reported as a gap too', () => {
  const feed = readingFeed({ state: 'behind', lanes: open('no-worker') });
  const codes = statusOf([feed], { workers: noWorker }).reasons.map(({ code }) => code);
  expect(codes).toEqual(['no-worker']);
  expect(
    statusOf([{ ...feed, verified: { ...feed.verified, ...unread } }]).reasons.map(
      ({ code }) => code,
    ),
  ).toEqual(['no-worker']);
});

test('a standby in place of its primary answers, and needs a person', () => {
  const { overall, reasons } = outageStatus(new Date(statusAt), new StandbyError());
  expect(overall).toMatchObject({
    state: 'action-required',
    sentence: expect.stringMatching(/^The database did not report the status: this Postgres is a/u),
  });
  expect(reasons).toMatchObject([{ code: 'database-failing', severity: 'action' }]);
});
