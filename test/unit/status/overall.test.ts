import { describe, expect, test } from 'vitest';
import { statusDocument, type FeedStatus, type Reason } from '../../../src/status/schema.ts';
import { feedOf, laneOf, readingFeed, sixFeeds, statusAt, statusOf } from '../../harness/status.ts';

const nobody = { start: 0, once: 0 };
const met = feedOf().poll;
const late = { ...met, is_met: false };
const unread = { is_verified: false, share: null, basis: 'unknown', positions: 0 } as const;
const gap = { ...feedOf().verified, share: 0.5, gaps: 2, missing: 1_234 };
const open = (state: FeedStatus['lanes'][number]['state'], quiet_s: number | null = null) => [
  laneOf({ lane: 'backfill', run_state: 'open', state, quiet_s }),
];

describe('the overall state', () => {
  test.each<[state: string, what: string, document: ReturnType<typeof statusOf>]>([
    ['healthy', 'of whole and current feeds', statusOf([feedOf(), feedOf({ chain_id: 1 })])],
    ['healthy', 'without a worker while nothing is due', statusOf([feedOf()], { workers: nobody })],
    ['syncing', 'while a worker reads history', statusOf(sixFeeds())],
    ['syncing', 'before the first page', statusOf([feedOf({ state: 'pending', pages: 0 })])],
    ['stopped', 'of nothing, without a worker', statusOf([], { workers: nobody })],
    [
      'stopped',
      'without a worker once a poll is due',
      statusOf([feedOf({ poll: late })], { workers: nobody }),
    ],
    [
      'stopped',
      'after Ctrl-C',
      statusOf([feedOf({ state: 'paused', lanes: open('paused') })], { workers: nobody }),
    ],
    [
      'degraded',
      'if another feed is paused while a worker runs',
      statusOf([feedOf(), feedOf({ chain_id: 1, state: 'paused', lanes: open('paused') })]),
    ],
    ['degraded', 'with a late poll', statusOf([feedOf({ poll: late })])],
    ['degraded', 'with a gap that no worker reads', statusOf([feedOf({ verified: gap })])],
    [
      'degraded',
      'if the key is throttled',
      statusOf([feedOf({ state: 'blocked', failure: 'throttled' })]),
    ],
    [
      'degraded',
      'on a standby that is far behind',
      statusOf([feedOf()], { workers: null, standby: { behind_s: 90 } }),
    ],
    [
      'degraded',
      'on a standby that does not know',
      statusOf([feedOf()], { workers: null, standby: { behind_s: null } }),
    ],
    [
      'degraded',
      'on a standby where no page comes',
      statusOf(
        [
          feedOf({
            lanes: [
              laneOf({
                lane: 'backfill',
                run_state: 'open',
                state: 'unknown',
                last_page_at: '2026-11-22T11:00:00.000Z',
              }),
            ],
          }),
        ],
        { workers: null, standby: { behind_s: 0 } },
      ),
    ],
    [
      'action-required',
      'if the key is refused, whatever else',
      statusOf(
        [
          feedOf({ poll: late }),
          feedOf({ chain_id: 1, state: 'blocked', failure: 'unauthorized' }),
        ],
        { workers: nobody },
      ),
    ],
    [
      'action-required',
      'if a request is rejected',
      statusOf([feedOf({ state: 'blocked', failure: 'rejected' })]),
    ],
    [
      'action-required',
      'on a chain that the service does not know',
      statusOf([feedOf({ state: 'unsupported', failure: 'unknown-chain' })]),
    ],
    ['action-required', 'with an item in quarantine', statusOf([feedOf({ quarantined: 3 })])],
  ])('is %s %s', (state, _what, document) => {
    expect(statusDocument.parse(document).overall.state).toBe(state);
  });
});

test('only what stops progress makes it unready', () => {
  const blocking = (feed: Partial<FeedStatus>) =>
    statusOf([feedOf(feed)]).reasons.some((reason) => reason.blocks_readiness);
  expect(
    [
      { quarantined: 1 },
      { verified: gap },
      { state: 'unsupported', failure: 'unsupported' },
      { state: 'failing', failure: 'unreachable' },
      readingFeed(),
    ].map((feed) => blocking(feed as Partial<FeedStatus>)),
  ).toEqual([false, false, false, false, false]);
  expect(
    [
      { state: 'blocked', failure: 'key-missing' },
      { state: 'blocked', failure: 'rejected' },
      { state: 'blocked', failure: 'out-of-credits' },
      { poll: late },
      { state: 'paused', lanes: open('paused') },
      { state: 'failing', lanes: open('quiet', 400) },
      { lanes: open('no-worker') },
      { newest_item: { at: statusAt, age_s: 9e4, usual_s: 60, limit_s: 21_600, is_met: false } },
    ].map((feed) => blocking(feed as Partial<FeedStatus>)),
  ).toEqual([true, true, true, true, true, true, true, true]);
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

test('a command that concerns one feed is narrowed to it', () => {
  expect(said(statusOf([feedOf({ verified: gap }), feedOf({ chain_id: 1 })]).reasons)).toEqual([
    [
      1,
      '1,234 blocks not downloaded; no backfill is running.',
      'explorer-etl backfill --chain 10 --operation user-operations',
    ],
  ]);
});

test('each feed says why it is in its state, without what to do', () => {
  const sentence =
    'unreachable: connection refused. Nothing to do: it is tried again with growing intervals; check the network and EXPLORER_BASE_URL if it lasts.';
  const { feeds, reasons } = statusOf([
    feedOf({ state: 'failing', failure: 'unreachable', sentence }),
    feedOf({ chain_id: 1 }),
  ]);
  expect(feeds.map((feed) => feed.sentence)).toEqual(['unreachable: connection refused.', null]);
  expect(reasons[0]?.advice).toMatch(/^Nothing to do: it is tried again/u);
});

test('no worker: since the last page, and the command is the one that ran', () => {
  const due = feedOf({ poll: late, lanes: [laneOf()] });
  expect(statusOf([due], { workers: nobody }).overall).toEqual({
    state: 'stopped',
    sentence: 'No worker since 11:22 UTC.',
    since: '2026-11-22T11:22:01.000Z',
    command: 'explorer-etl start',
  });
  const daily = { ...late, target: { seconds: 93_600, from: 'daily' as const } };
  expect(statusOf([feedOf({ poll: daily })], { workers: nobody }).overall.command).toBe(
    'explorer-etl sync',
  );
});

test('what is unread for lack of a worker is no gap beside it', () => {
  const feed = readingFeed({ state: 'behind', lanes: open('no-worker') });
  const codes = statusOf([feed], { workers: nobody }).reasons.map(({ code }) => code);
  expect(codes).toEqual(['no-worker']);
  expect(
    statusOf([{ ...feed, verified: { ...feed.verified, ...unread } }]).reasons.map(
      ({ code }) => code,
    ),
  ).toEqual(['no-worker']);
});
