import { expect, test } from 'vitest';
import { coverage } from '../../../src/page/coverage/index.ts';
import type { CoverageView, RibbonView, SegmentView } from '../../../src/page/coverage/view.ts';

const segment: SegmentView = {
  state: 'proved',
  first: 0,
  last: 5,
  from: 100,
  to: 159,
  pieces: 1,
  numbers: 60,
  walks: {
    walks: 2,
    isCut: false,
    first: 3,
    last: 9,
    lanes: ['backfill', 'live'],
    oldest: '2026-11-01T10:00:00Z',
    newest: '2026-11-01T11:00:00Z',
  },
  fromAt: Date.UTC(2026, 9, 1),
  toAt: Date.UTC(2026, 9, 2),
  command: null,
  pages: null,
};
const hole: SegmentView = {
  ...segment,
  state: 'missing',
  first: 6,
  last: 9,
  from: 160,
  to: 190,
  pieces: 3,
  numbers: 12,
  walks: null,
  command: 'explorer-etl backfill --chain 10',
  pages: 4,
};
const ribbon: RibbonView = {
  kind: 'ribbon',
  feed: '10/user-operations',
  chain: 'optimism',
  list: 'user operations',
  share: 'about 60 % proved',
  unit: 'block',
  window: { from: 100, to: 199 },
  whole: { from: 0, to: 199 },
  buckets: 10,
  segments: [segment, hole],
  ticks: [
    { height: 100, at: Date.UTC(2026, 9, 1) },
    { height: 199, at: null },
  ],
  isWorked: true,
};

const drawn = async (view: CoverageView, query = '') =>
  String(await coverage({ views: [view], query: new URLSearchParams(query), creditsPerPage: 20 }));
const textOf = (markup: string) => markup.replaceAll(/<[^>]*>/gu, ' ').replaceAll(/\s+/gu, ' ');

test('a segment takes its part of the bar, and says its range, time, state and walks', async () => {
  const markup = await drawn(ribbon);
  expect(markup).toContain('class="fill proved" x="0%" y="3" width="60%"');
  expect(markup).toContain('class="fill missing" x="60%" y="3" width="40%"');
  expect(textOf(markup)).toContain(
    'blocks 100 to 159: proved · 60 blocks · 2026-10-01 00:00 to 2026-10-02 00:00 · ' +
      'as of 2026-11-01 10:00 to 2026-11-01 11:00, by 2 walks, 3 to 9 (backfill, live)',
  );
});

test('a hole says what it costs, and its command is there to copy', async () => {
  const markup = await drawn(ribbon);
  expect(textOf(markup)).toContain(
    'blocks 160 to 190 missing (12 blocks in 3 places; about 4 pages, 80 credits)',
  );
  expect(markup).toContain('data-copy="explorer-etl backfill --chain 10"');
});

test('a time that nobody knows is not drawn', async () => {
  const axis = (await drawn(ribbon)).split('class="axis"')[1]?.split('</svg>')[0] ?? '';
  expect(axis.match(/class="at"/gu)).toHaveLength(1);
});

test('a walk that nobody is on is not said to read', async () => {
  const begun = { ...ribbon, segments: [{ ...segment, state: 'reading' as const }] };
  expect(textOf(await drawn(begun))).toContain(': being read');
  expect(textOf(await drawn({ ...begun, isWorked: false }))).toContain(
    ': begun, and nobody is on it',
  );
});

test('a ranking is a census, and what was never read is unknown, not missing', async () => {
  const named = { feed: '1/factories', chain: 'one', list: 'factories', share: '' };
  const census = await drawn({
    ...named,
    kind: 'census',
    asOf: '2026-11-01T10:00:00Z',
    factories: 2,
  });
  expect(textOf(census)).toContain('Census of 2 factories, as of 2026-11-01 10:00.');
  const unread = (await drawn({ ...named, kind: 'unread' })).split('<article')[1] ?? '';
  expect(unread).toContain('class="fill unknown"');
  expect(unread).not.toContain('missing');
});

test('names of others are text', async () => {
  const markup = await drawn({ ...ribbon, chain: '"><script>alert(1)</script>' });
  expect(markup).not.toContain('<script');
  expect(markup).toContain('&lt;script&gt;');
});
