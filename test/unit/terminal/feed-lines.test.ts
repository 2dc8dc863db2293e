import { expect, test } from 'vitest';
import { feedLines, type FeedLine } from '../../../src/terminal/feed-lines.ts';
import { widthOf } from '../../../src/terminal/width.ts';
import { looks, usual } from './looks.ts';

const reading = {
  chain: 'optimism',
  list: 'user operations',
  share: { done: 240, total: 512, isReckoned: true, isCounted: false },
  rows: 12_000,
  pages: 240,
  credits: 4_800,
  stand: 'reading',
  note: '4m 2s left',
} as const satisfies FeedLine;

/** Feeds in every stand. */
const lines: readonly FeedLine[] = [
  reading,
  {
    ...reading,
    list: 'batch blocks',
    share: { done: 6, total: 10, isReckoned: false, isCounted: true },
    rows: 1_375,
    pages: 19,
    credits: 380,
    note: '2s left',
  },
  { ...reading, list: 'factories', stand: 'done', rows: 300, pages: 6, credits: 120, note: '1.2s' },
  {
    ...reading,
    chain: 'celo',
    share: null,
    rows: 1_234_567,
    pages: 24_692,
    credits: 493_840,
    note: '812 rows/s',
  },
  { ...reading, chain: 'celo', list: 'factories', stand: 'failed', note: 'unauthorized' },
  { ...reading, chain: 'base', stand: 'paused', note: 'paused' },
  {
    ...reading,
    chain: 'zora',
    share: null,
    rows: 0,
    pages: 0,
    credits: 0,
    stand: 'unserved',
    note: 'not served',
  },
];

const layouts = ['head', 'cells'] as const;

test.each(Object.values(looks))(
  'the lines of feeds fit $columns columns, coloured: $isColoured',
  (look) => {
    const drawn = layouts.flatMap((words) => feedLines(look, lines, words));
    expect(drawn.filter((line) => widthOf(line) > look.columns)).toEqual([]);
    expect(drawn.join('').includes('\u001b')).toBe(look.isColoured);
  },
);

test('the lines of feeds', async () => {
  const drawn = layouts.map((words) => `${feedLines(usual, lines, words).join('\n')}\n`);
  await expect(drawn.join('\n')).toMatchFileSnapshot('snapshots/feed-lines.txt');
});

test('what is reckoned to be over, and is not, is not told as done', () => {
  const [, line] = feedLines({ isTerminal: true, columns: 80, isColoured: false }, [
    { ...reading, share: { ...reading.share, done: 999, total: 1_000 } },
  ]);
  expect(line).toContain('~99 %');
  expect(line).toContain('░');
});
