import { expect, test } from 'vitest';
import { trackFeeds, type WatchedFeed } from '../../src/cli/feed-track.ts';
import { plainProgress } from '../../src/cli/progress.ts';
import { failures, type FailureClass } from '../../src/failure.ts';
import type { FeedLane } from '../../src/lists/feed.ts';
import type { LaneCounts } from '../../src/report/progress.ts';

const lane: FeedLane = { chain_id: 10, operation: 'user-operations', lane: 'backfill' };
const feed: WatchedFeed = {
  feed: '10/user-operations',
  chain: 'optimism',
  list: 'user operations',
  lanes: [lane],
};

/** An earlier command read 100 pages; a run of it waits to go on. */
const before: LaneCounts = {
  feed: feed.feed,
  lane: 'backfill',
  run_id: 7,
  run_state: 'interrupted',
  failure: null,
  reason: null,
  rows: 5_000,
  pages: 100,
  credits: 2_000,
};
const reading: LaneCounts = {
  ...before,
  run_state: 'open',
  rows: 5_500,
  pages: 110,
  credits: 2_220,
};

const follow = (start = before, mostPages: number | null = null) =>
  trackFeeds([feed], [start], { runPages: new Map([[7, 40]]), mostPages });

test('what an earlier command did is neither shown nor counted', () => {
  const track = follow();
  expect(track.lines(0)).toEqual([]);
  track.see([reading], 1_000);
  expect(track.lines(1_000)).toMatchObject([{ rows: 500, pages: 10, credits: 220, note: '' }]);
});

test('a share counts what its run had read before, and moves with each page until it is reckoned again', () => {
  const track = follow();
  track.see([reading], 0);
  track.reckon(new Map([[lane, { unit: 'pages', left: 50 }]]));
  expect(track.lines(0)[0]?.share).toMatchObject({ done: 50, total: 100, isReckoned: true });
  track.see([{ ...reading, pages: 130 }], 10_000);
  expect(track.lines(10_000)).toMatchObject([
    { share: { done: 70, total: 100 }, note: '~15s left' },
  ]);
});

test('what was reckoned to be over has a page left for as long as it reads', () => {
  const track = follow();
  track.see([reading], 0);
  track.reckon(new Map([[lane, { unit: 'pages', left: 5 }]]));
  track.see([{ ...reading, pages: 140 }], 1_000);
  expect(track.lines(1_000)[0]?.share).toMatchObject({ done: 80, total: 81 });
});

test('batches are counted, and nothing of them is reckoned', () => {
  const track = follow();
  track.see([reading], 0);
  track.reckon(new Map([[lane, { unit: 'batches', done: 6, total: 10 }]]));
  expect(track.lines(0)[0]?.share).toEqual(
    expect.objectContaining({ done: 6, total: 10, isReckoned: false, isCounted: true }),
  );
});

test('of unknown length, its pace is told', () => {
  const track = follow();
  track.see([reading], 0);
  track.see([{ ...reading, rows: 7_500, pages: 150 }], 10_000);
  expect(track.lines(10_000)).toMatchObject([{ share: null, note: '200 rows/s' }]);
});

test('a feed that is done keeps its time, whenever it is looked at', () => {
  const track = follow();
  track.see([reading], 0);
  const finished = { ...reading, run_state: 'finished' } as const;
  track.see([finished], 5_000);
  track.see([finished], 500_000);
  expect(track.lines(900_000)).toMatchObject([{ stand: 'done', note: '5s' }]);
});

test('where no page comes, that is what is told', () => {
  const track = follow();
  track.see([reading], 0);
  track.see([reading], 20_000);
  expect(track.lines(20_000)).toMatchObject([{ stand: 'reading', note: 'no page for 20s' }]);
});

test('a run that was set aside, and one that a signal left, is no failure', () => {
  for (const state of ['superseded', 'interrupted'] as const) {
    const track = follow({ ...before, run_id: 6 });
    track.see([{ ...reading, run_state: state }], 0);
    expect(track.lines(0)[0]?.stand).toBe('paused');
  }
});

test.each(Object.keys(failures) as FailureClass[])('a feed that ended with %s says so', (name) => {
  const track = follow({ ...before, run_id: 6 });
  track.see([{ ...reading, run_state: 'interrupted', failure: name, reason: 'why' }], 0);
  const stand = failures[name].exit === 0 ? 'unserved' : 'failed';
  expect(track.lines(0)).toMatchObject([{ stand, note: name }]);
});

test('of a probe the pages that it may make are the whole', () => {
  const track = follow(before, 20);
  track.see([reading], 0);
  expect(track.lines(0)[0]?.share).toMatchObject({ done: 10, total: 20 });
});

test('in a file a feed has a line where it begins, each half minute, and where it ends', () => {
  const track = follow();
  let written = '';
  const tell = plainProgress((text) => void (written += text));
  const at = (counts: LaneCounts, ms: number) => {
    track.see([counts], ms);
    tell(track.lines(ms), ms);
  };
  tell(track.lines(0), 0);
  for (let second = 1; second <= 60; second += 1) {
    at({ ...reading, rows: 5_000 + 50 * second, pages: 100 + second }, 1_000 * second);
  }
  at({ ...reading, run_state: 'finished', rows: 8_050, pages: 161 }, 61_000);
  at({ ...reading, run_state: 'finished', rows: 8_050, pages: 161 }, 62_000);
  expect(written).toBe(
    [
      '10/user-operations: begun',
      '10/user-operations: 1,550 rows, 31 pages, 220 credits, 50 rows/s',
      '10/user-operations: done, 3,050 rows, 61 pages, 220 credits, 1m',
      '',
    ].join('\n'),
  );
});
