import { describe, expect, test } from 'vitest';
import { cursorLoop, judgeProgress, type Progress, cursorText } from '../../../src/sync/judge.ts';

/** So many empty pages in a row end a walk. */
const emptyPagesLimit = 100;

const onTheWay: Progress = {
  cursor_in: { block_number: 20, items_count: 50 },
  cursor_out: { block_number: 10, items_count: 50 },
  unreadable: null,
  pages: 7,
  emptyRun: 0,
  oldestMs: Date.UTC(2026, 0, 2),
  lowest: 1000,
  floor: null,
  showsKnown: false,
};

describe('a walk', () => {
  test('goes on while the cursor moves', () => {
    expect(judgeProgress({}, onTheWay)).toBeNull();
  });

  test('goes on at its floor, and ends past it', () => {
    expect(judgeProgress({}, { ...onTheWay, floor: 1000 })).toBeNull();
    expect(judgeProgress({}, { ...onTheWay, floor: 1001 })).toEqual({
      is: 'bound',
      bound: 'floor',
    });
  });

  test('ends where it meets the block below which all is known, or at the end of the list', () => {
    const met = { ...onTheWay, showsKnown: true };
    expect(judgeProgress({}, met)).toEqual({ is: 'bound', bound: 'known' });
    expect(judgeProgress({}, { ...met, cursor_out: null })).toEqual({ is: 'end' });
  });

  test('ends where the next cursor is the one that another walk began with', () => {
    const until = { items_count: 50, block_number: 10 };

    expect(judgeProgress({ until }, onTheWay)).toEqual({ is: 'bound', bound: 'until' });
    expect(judgeProgress({ until: { ...until, block_number: 9 } }, onTheWay)).toBeNull();
  });

  test('ends where there is no next cursor', () => {
    expect(judgeProgress({}, { ...onTheWay, cursor_out: null })).toEqual({ is: 'end' });
  });

  test('fails where the next cursor is the one just used, whatever the order of its fields', () => {
    const cursor_out = { items_count: 50, block_number: 20 };

    expect(judgeProgress({}, { ...onTheWay, cursor_out })).toEqual(cursorLoop);
  });

  test('goes on from the first page, whose cursor is none', () => {
    expect(judgeProgress({}, { ...onTheWay, cursor_in: null, pages: 1 })).toBeNull();
  });

  test('fails where the next cursor cannot be read', () => {
    const progress = { ...onTheWay, cursor_out: null, unreadable: 'page_token: expected string' };

    expect(judgeProgress({}, progress)).toMatchObject({ is: 'failed' });
  });

  test('follows empty pages up to the bound', () => {
    const progress = { ...onTheWay, emptyRun: emptyPagesLimit - 1 };

    expect(judgeProgress({}, progress)).toBeNull();
  });

  test('fails at the bound of empty pages', () => {
    const progress = { ...onTheWay, emptyRun: emptyPagesLimit };

    expect(judgeProgress({}, progress)).toEqual({
      is: 'failed',
      failure: null,
      reason: `${emptyPagesLimit} empty pages in a row`,
    });
  });

  test('reaches its end rather than the bound of empty pages', () => {
    const progress = { ...onTheWay, cursor_out: null, emptyRun: emptyPagesLimit };

    expect(judgeProgress({}, progress)).toEqual({ is: 'end' });
  });
});

describe('a walk with bounds', () => {
  test.each([
    ['older than', '2026-01-01T23:59:59.999000Z', { is: 'bound', bound: 'since' }],
    ['as old as', '2026-01-02T00:00:00.000000Z', null],
    ['younger than', '2026-01-02T00:00:00.001000Z', null],
  ])('is judged by a last item that is %s its bound in time', (_, oldest, expected) => {
    const scope = { since: '2026-01-02T00:00:00.000Z' };

    expect(judgeProgress(scope, { ...onTheWay, oldestMs: Date.parse(oldest) })).toEqual(expected);
  });

  test('goes on below its bound in time where no item tells its time', () => {
    const scope = { since: '2027-01-01T00:00:00.000Z' };

    expect(judgeProgress(scope, { ...onTheWay, oldestMs: null })).toBeNull();
  });

  test.each([
    [7, { is: 'bound', bound: 'max-pages' }],
    [8, null],
  ])('with at most %i pages is judged on its seventh', (max_pages, expected) => {
    expect(judgeProgress({ max_pages }, onTheWay)).toEqual(expected);
  });
});

describe('a cursor', () => {
  test('has one spelling whatever the order of its fields', () => {
    expect(cursorText({ b: 1, a: 'x' })).toBe(cursorText({ a: 'x', b: 1 }));
  });

  test('is spelled apart from one with another value', () => {
    expect(cursorText({ a: 1 })).not.toBe(cursorText({ a: '1' }));
  });
});
