import { expect, test } from 'vitest';
import {
  followFeeds,
  plainProgress,
  trackLines,
  type Track,
  type WatchedFeed,
} from '../../../src/cli/progress.ts';
import { failures, type FailureClass } from '../../../src/failure.ts';
import type { FeedStatus, StatusDocument } from '../../../src/status/schema.ts';
import { widthOf } from '../../../src/terminal/width.ts';
import { laneOf, readingFeed, statusOf } from '../../harness/status.ts';
import { looks, usual } from './looks.ts';

const watched: WatchedFeed = {
  feed: '10/user-operations',
  chain: 'optimism',
  list: 'user operations',
  mostPages: null,
};

const lane = laneOf({ lane: 'backfill', run_state: 'interrupted' });
const readingHalf = readingFeed();

/** An earlier command read 100 pages of this feed, half of its target. */
const feed = readingFeed({
  rows: 5_000,
  pages: 100,
  verified: { ...readingHalf.verified, share: 0.5 },
  left: { ...readingHalf.left, requests: { least: 100, likely: 100, most: 120 } },
  progress: { reached: null, reached_at: '2026-10-21T12:00:00Z', batches: null },
  lanes: [lane],
});

const startMs = Date.UTC(2026, 10, 24, 12);
type Key = StatusDocument['credits']['keys'][number];
const key: Key = {
  spent: 0,
  limit: null,
  left: null,
  paused_until: null,
  failure: null,
  reason: null,
};

/** The status some seconds after the command began. */
function at(
  seconds: number,
  own: Partial<FeedStatus> = {},
  keys: readonly Partial<Key>[] = [],
): StatusDocument {
  const status = statusOf([{ ...feed, ...own }]);
  return {
    ...status,
    as_of: new Date(startMs + 1_000 * seconds).toISOString(),
    credits: { ...status.credits, keys: keys.map((one) => ({ ...key, ...one })) },
  };
}

const open = (own: Partial<typeof lane> = {}) => ({
  lanes: [{ ...lane, run_state: 'open' as const, state: 'running' as const, ...own }],
});

const follow = (own: Partial<WatchedFeed> = {}) => followFeeds([{ ...watched, ...own }], at(0));

test('what an earlier command did is not counted, and its last run is no end of this one', () => {
  const tracks = follow();
  expect(tracks(at(0))).toMatchObject([{ state: 'pending', rows: 0, pages: 0 }]);
  expect(tracks(at(1, { ...open(), rows: 5_500, pages: 110 }))).toMatchObject([
    { state: 'reading', rows: 500, pages: 10 },
  ]);
});

test('a feed shows its share of the target, the time left, the date reached and its rate', () => {
  const tracks = follow();
  tracks(at(0, open()));
  const left = { ...feed.left, requests: { least: 80, likely: 80, most: 80 } };
  // Of the half that was missing, 20 pages are read and 80 are left.
  expect(tracks(at(10, { ...open(), rows: 6_000, pages: 120, left }))).toMatchObject([
    { share: 0.6, notes: ['40s left', 'at 2026-10-21', '100 rows/s'] },
  ]);
  // The estimate is as old as a poll of it: pages that came since are no longer left.
  expect(tracks(at(20, { ...open(), pages: 140, left }))[0]?.share).toBeCloseTo(0.7);
});

test('a feed that was estimated to be over has a page left for as long as it reads', () => {
  const tracks = follow();
  tracks(at(0, open()));
  const [track] = tracks(at(10, { ...open(), pages: 300 }));
  expect(track?.share).toBeLessThan(1);
});

test('an upper bound is called one', () => {
  const tracks = follow();
  const left = { ...feed.left, requests: { least: 1, likely: null, most: 50 } };
  tracks(at(0, { ...open(), left }));
  expect(tracks(at(10, { ...open(), pages: 110, left }))[0]?.notes[0]).toBe('≤ 40s left');
});

test('of unknown length, a feed shows its rate and no share', () => {
  const tracks = follow();
  const left = { ...feed.left, requests: { least: 1, likely: null, most: null } };
  tracks(at(0, { ...open(), left }));
  expect(tracks(at(10, { ...open(), rows: 7_000, pages: 140, left }))).toMatchObject([
    { share: null, notes: ['40 pages', 'at 2026-10-21', '200 rows/s'] },
  ]);
});

test('of a probe the pages that it may read are the whole', () => {
  const tracks = follow({ mostPages: 20 });
  expect(tracks(at(1, { ...open(), pages: 110 }))[0]?.share).toBe(0.5);
});

test.each<[string, Partial<FeedStatus>, Partial<Key>[], string]>([
  ['queued', open({ state: 'queued' }), [], 'waits for its turn'],
  ['quiet', open({ state: 'quiet', quiet_s: 20 }), [], 'no response for 20s'],
  [
    'backing off',
    {
      ...open({ state: 'backing-off', until: '2026-11-24T12:01:00Z' }),
      failure: 'unreachable',
    },
    [],
    'retry in 50s: unreachable',
  ],
  [
    'out of credits',
    open(),
    [{ paused_until: '2026-11-25T00:00:00Z', failure: 'out-of-credits' }],
    'waits 11h 59m for credits',
  ],
  [
    'throttled',
    open(),
    [{ paused_until: '2026-11-24T12:00:15Z', failure: 'throttled' }],
    'waits 5s for the key',
  ],
])('a feed says what it waits for: %s', (_name, own, keys, note) => {
  const tracks = follow();
  tracks(at(0, own, keys));
  expect(tracks(at(10, own, keys))).toMatchObject([{ state: 'waiting', notes: [note] }]);
});

test('a feed that is done shows how long it took', () => {
  const tracks = follow();
  tracks(at(0, open()));
  const finished = { lanes: [{ ...lane, run_state: 'finished' as const }] };
  tracks(at(5, finished));
  expect(tracks(at(500, finished))).toMatchObject([{ state: 'done', share: 1, notes: ['5s'] }]);
});

test('a run that other bounds replaced, or a signal stopped, has not failed', () => {
  for (const run_state of ['superseded', 'interrupted'] as const) {
    expect(follow()(at(1, { lanes: [{ ...lane, run_id: 8, run_state }] }))).toMatchObject([
      { state: 'paused' },
    ]);
  }
});

test.each(Object.keys(failures) as FailureClass[])(
  'a feed that ended with %s says so',
  (failure) => {
    const ended = { ...lane, run_id: 8, reason: 'why' };
    const [track] = follow()(at(1, { failure, lanes: [ended] }));
    expect(track).toMatchObject(
      failures[failure].exit === 0
        ? { state: 'unsupported', notes: ['not served'] }
        : { state: 'failed', notes: [failure] },
    );
  },
);

const track: Track = {
  ...watched,
  state: 'reading',
  share: 0.476,
  rows: 12_000,
  pages: 240,
  notes: ['4m 2s left', 'at 2026-10-21', '112 rows/s'],
};

const scene: readonly Track[] = [
  track,
  {
    ...track,
    list: 'batch blocks',
    share: 0.22,
    rows: 4_000,
    notes: ['≤ 17s left', '171 rows/s'],
  },
  { ...track, list: 'factories', state: 'done', share: 1, rows: 300, notes: ['1.2s'] },
  { ...track, chain: 'celo', share: null, rows: 1_234_567, notes: ['812 rows/s'] },
  { ...track, chain: 'celo', list: 'factories', state: 'failed', notes: ['unauthorized'] },
  { ...track, chain: 'base', state: 'waiting', notes: ['retry in 50s: unreachable'] },
  { ...track, chain: 'ink', state: 'paused', notes: ['paused'] },
  { ...track, chain: 'zora', state: 'unsupported', share: null, rows: 0, notes: ['not served'] },
  { ...track, chain: 'mode', state: 'pending', share: null, rows: 0, notes: [] },
];

test('progress on a terminal', async () => {
  await expect(`${trackLines(usual, scene).join('\n')}\n`).toMatchFileSnapshot(
    'snapshots/progress.txt',
  );
});

test.each(Object.values(looks))('progress fits $columns columns, coloured: $isColoured', (look) => {
  const lines = trackLines(look, scene);
  expect(lines.filter((line) => widthOf(line) > look.columns)).toEqual([]);
  expect(lines.join('').includes('\u001b')).toBe(look.isColoured);
});

test('nothing moves sideways while numbers grow', () => {
  const columnOf = (rows: number) =>
    trackLines(usual, [{ ...track, rows }])[1]?.indexOf('4m 2s left');
  expect(columnOf(0)).toBe(columnOf(999_999));
});

test('in a file a feed has a line where it begins, each half minute, and where it ends', () => {
  let written = '';
  const write = plainProgress((text) => void (written += text));
  write([{ ...track, state: 'pending' }], 0);
  for (let second = 1; second <= 60; second += 1) {
    write([{ ...track, rows: 50 * second, pages: second }], 1_000 * second);
  }
  write([{ ...track, state: 'done', share: 1, notes: ['1m'] }], 61_000);
  write([{ ...track, state: 'done', share: 1, notes: ['1m'] }], 62_000);
  expect(written).toBe(
    [
      '10/user-operations: reading',
      '10/user-operations: 47 %, 1,550 rows, 31 pages, 4m 2s left, at 2026-10-21, 112 rows/s',
      '10/user-operations: done, 12,000 rows, 240 pages, 1m',
      '',
    ].join('\n'),
  );
});
