import { expect, test } from 'vitest';
import { failures, type FailureClass } from '../../../src/failure.ts';
import type { FeedStatus, StatusDocument } from '../../../src/status/schema.ts';
import { laneOf, readingFeed, statusOf } from '../../harness/status.ts';
import { looks, usual } from './looks.ts';
import { plainProgress, trackLines, tracksOf, type Track } from '../../../src/cli/progress.ts';
import { widthOf } from '../../../src/terminal/layout.ts';

const lane = laneOf({ lane: 'backfill', run_state: 'interrupted' });

/** An earlier command read 100 pages of this feed, half of its target. */
const feed = readingFeed({
  rows: 5_000,
  pages: 100,
  verified: { ...readingFeed().verified, share: 0.5 },
  progress: { reached: null, reached_at: '2026-10-21T12:00:00Z', batches: null },
  lanes: [lane],
});
const before = statusOf([feed]);

const open = (own: Partial<typeof lane> = {}): Partial<FeedStatus> => ({
  lanes: [{ ...lane, run_state: 'open', state: 'running', pages_per_second: 2, ...own }],
});

const left = (likely: number | null, ends_in_s: number | null): Partial<FeedStatus> => ({
  left: { requests: { least: 1, likely, most: 80 }, ends_in_s, ends_at: null },
});

/** What has become of the feed. */
function trackOf(own: Partial<FeedStatus>): Track | undefined {
  const now: StatusDocument = { ...before, feeds: [{ ...feed, ...own }] };
  return tracksOf(new Set([feed.feed]), before, now)[0];
}

test('what an earlier command did is not counted, and its last run is no end of this one', () => {
  expect(trackOf({})).toMatchObject({ state: 'pending', rows: 0, pages: 0 });
  expect(trackOf({ ...open(), rows: 5_500, pages: 110 })).toMatchObject({
    state: 'reading',
    rows: 500,
    pages: 10,
  });
});

test('a feed shows its share of the target, the time left, the date reached and its rate', () => {
  expect(trackOf({ ...open(), ...left(80, 40), pages: 120 })).toMatchObject({
    share: 0.5,
    notes: ['40s left', 'at 2026-10-21', '2 pages/s'],
  });
});

test('an upper bound is called one', () => {
  expect(trackOf({ ...open(), ...left(null, 40) })?.notes[0]).toBe('≤ 40s left');
});

test('of unknown length, a feed shows its pages', () => {
  expect(trackOf({ ...open(), ...left(null, null), pages: 140 })?.notes[0]).toBe('40 pages');
});

test.each<[string, Partial<FeedStatus>]>([
  ['quiet', open({ state: 'quiet', quiet_s: 20 })],
  ['failing', { ...open({ state: 'backing-off' }), state: 'failing' }],
  ['out of credits', { ...open(), state: 'blocked' }],
])('a feed that waits says for what, as its status does: %s', (_name, own) => {
  const sentence = 'The key is out of credits until 00:00 UTC.';
  expect(trackOf({ ...own, sentence })).toMatchObject({ state: 'waiting', notes: [sentence] });
});

test('a feed that is finished shows its pages', () => {
  const finished = { lanes: [{ ...lane, run_state: 'finished' as const }] };
  expect(trackOf({ ...finished, pages: 105 })).toMatchObject({
    state: 'finished',
    notes: ['5 pages'],
  });
});

test('a run that other bounds replaced, or a signal stopped, has not failed', () => {
  for (const run_state of ['superseded', 'interrupted'] as const) {
    expect(trackOf({ lanes: [{ ...lane, run_id: 8, run_state }] })).toMatchObject({
      state: 'paused',
    });
  }
});

test.each(Object.keys(failures) as FailureClass[])(
  'a feed that ended with %s says so',
  (failure) => {
    const ended = { ...lane, run_id: 8, reason: 'why' };
    expect(trackOf({ failure, lanes: [ended] })).toMatchObject(
      failures[failure].exit === 0
        ? { state: 'unsupported', notes: ['unsupported'] }
        : { state: 'failed', notes: [failure] },
    );
  },
);

const track: Track = {
  feed: '10/user-operations',
  chain_name: 'optimism',
  label: 'user operations',
  state: 'reading',
  share: 0.476,
  rows: 12_000,
  pages: 240,
  notes: ['4m 2s left', 'at 2026-10-21', '12 pages/s'],
};

const scene: readonly Track[] = [
  track,
  { ...track, label: 'batch blocks', share: 0.022, rows: 4_000, notes: ['≤ 17s left'] },
  { ...track, label: 'factories', state: 'finished', share: 1, rows: 300, notes: ['6 pages'] },
  { ...track, chain_name: 'celo', share: null, rows: 1_234_567, notes: ['812 pages'] },
  {
    ...track,
    chain_name: 'celo',
    label: 'factories',
    state: 'failed',
    notes: ['unauthorized'],
  },
  {
    ...track,
    chain_name: 'base',
    state: 'waiting',
    notes: ['unreachable: HTTP 503, Service Unavailable.'],
  },
  { ...track, chain_name: 'ink', state: 'paused', notes: ['paused'] },
  {
    ...track,
    chain_name: 'zora',
    state: 'unsupported',
    share: null,
    rows: 0,
    notes: ['unsupported'],
  },
  { ...track, chain_name: 'mode', state: 'pending', share: null, rows: 0, notes: [] },
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
    trackLines(usual, [{ ...track, rows }])[0]?.indexOf('4m 2s left');
  expect(columnOf(0)).toBe(columnOf(999_999));
});

test('in a file a feed has a line where it begins, each half minute, and where it ends', () => {
  let written = '';
  const write = plainProgress((text) => void (written += text));
  write([{ ...track, state: 'pending' }], 0);
  for (let second = 1; second <= 60; second += 1) {
    write([{ ...track, rows: 50 * second, pages: second }], 1_000 * second);
  }
  write([{ ...track, state: 'finished', share: 1, notes: ['240 pages'] }], 61_000);
  write([{ ...track, state: 'finished', share: 1, notes: ['240 pages'] }], 62_000);
  expect(written).toBe(
    [
      '10/user-operations: reading',
      '10/user-operations: 47 %, 1,550 rows, 31 pages, 4m 2s left, at 2026-10-21, 12 pages/s',
      '10/user-operations: finished, 12,000 rows, 240 pages',
      '',
    ].join('\n'),
  );
});
