import { describe, expect, test } from 'vitest';
import {
  cursorLoop,
  cursorText,
  judgeProgress,
  lowestOf,
  type Progress,
} from '../../../src/sync/judge.ts';
import { judgeOrder } from '../../../src/sync/order.ts';

/** So many empty pages in a row end a walk. */
const emptyPagesLimit = 100;

const onTheWay: Progress = {
  cursor_in: { block_number: 20, items_count: 50 },
  cursor_out: { block_number: 10, items_count: 50 },
  unreadable: null,
  pages: 7,
  emptyRun: 0,
  isPastSince: false,
  lowest: 1000,
  floor: null,
  showsKnown: false,
};
const bound = (name: string) => ({ is: 'bound', bound: name });
const end = { is: 'end' };
const until = { items_count: 50, block_number: 10 };

type Row = readonly [
  title: string,
  progress: Partial<Progress>,
  judged: object | null,
  scope?: Parameters<typeof judgeProgress>[0],
];

describe('a walk', () => {
  const rows: readonly Row[] = [
    ['continues while the cursor moves', {}, null],
    ['continues after the first page, which has no cursor', { cursor_in: null, pages: 1 }, null],
    ['continues at its stop height', { floor: 1000 }, null],
    ['ends below its stop height', { floor: 1001 }, bound('floor')],
    [
      'ends below its stop height where the list ends, too, if it reads again',
      { floor: 1001, cursor_out: null },
      bound('floor'),
      { again: true },
    ],
    ['ends at the end of the list below its stop height', { floor: 1001, cursor_out: null }, end],
    ['ends at the block below which everything is known', { showsKnown: true }, bound('known')],
    ['ends at the end of the list above that block', { showsKnown: true, cursor_out: null }, end],
    ['ends where another walk began', {}, bound('until'), { until }],
    [
      'continues above where another walk began',
      {},
      null,
      { until: { ...until, block_number: 9 } },
    ],
    ['ends if there is no next cursor', { cursor_out: null }, end],
    [
      'fails if the next cursor is the one just used, whatever the order of its fields',
      { cursor_out: { items_count: 50, block_number: 20 } },
      cursorLoop,
    ],
    [
      'fails if the next cursor cannot be read',
      { cursor_out: null, unreadable: 'page_token: expected string' },
      expect.objectContaining({ is: 'failed' }),
    ],
    ['follows empty pages up to the limit', { emptyRun: emptyPagesLimit - 1 }, null],
    [
      'fails at the limit of empty pages',
      { emptyRun: emptyPagesLimit },
      { is: 'failed', failure: null, reason: `${emptyPagesLimit} empty pages in a row` },
    ],
    [
      'ends at the end of the list rather than at the limit of empty pages',
      { cursor_out: null, emptyRun: emptyPagesLimit },
      end,
    ],
    ['ends behind its bound in time', { isPastSince: true }, bound('since')],
    ['ends at the limit of pages', {}, bound('max-pages'), { max_pages: 7 }],
    ['continues below the limit of pages', {}, null, { max_pages: 8 }],
  ];
  const cases = rows.map(([title, progress, judged, scope = {}]) => ({
    title,
    progress,
    judged,
    scope,
  }));

  test.each(cases)('$title', ({ progress, judged, scope }) => {
    expect(judgeProgress(scope, { ...onTheWay, ...progress })).toEqual(judged);
  });
});

test('a cursor is formatted apart from one with another value, whatever the order of its fields', () => {
  expect(cursorText({ b: 1, a: 'x' })).toBe(cursorText({ a: 'x', b: 1 }));
  expect(cursorText({ a: 1 })).not.toBe(cursorText({ a: '1' }));
});

describe('how low a page reaches', () => {
  const key = (block: number) => `0x${block.toString(16).padStart(64, '0')}`;
  const reached = (heights: readonly number[], next: number | null) => {
    const places = heights.map((height) => ({ height, key: key(height), timeMs: null }));
    const next_at = next === null ? null : { height: next, key: key(next) };
    const borders = { previousLast: null, entry: null, isEntryAbove: false, next: next_at };
    return lowestOf(judgeOrder(places, borders));
  };

  test('is its last item if the next page continues below it', () => {
    expect(reached([1003, 1002, 1001], 1000)).toBe(1001);
  });

  test.each([
    ['without a next page to confirm it', null],
    ['with a next page that continues above it', 1001],
  ])('is not the number that only its last item reports: %s', (_, next) => {
    const reach = reached([1008, 1007, 1006, 1005, 1004, 1003, 1002, 1], next);
    expect(reach).toBeGreaterThanOrEqual(1002);
  });
});
