import { describe, expect, test } from 'vitest';
import { none } from '../../src/lists/list.ts';
import {
  type ListFacts,
  listHistory,
  listUpkeep,
  nothingKnown,
} from '../../src/lists/newest-first/estimate.ts';
import {
  type BatchFacts,
  batchHistory,
  batchUpkeep,
  nothingKnown as noBatchKnown,
} from '../../src/lists/numbered/estimate.ts';
import { rankedStatus } from '../../src/lists/ranked/status.ts';

const dayMs = 86_400_000;
const list: ListFacts = {
  isBegun: true,
  gaps: [{ from: 0, to: 999_999, endsAt: Date.UTC(2026, 0, 1), near: null }],
  itemsPerBlock: 0.5,
  blockMs: 2_000,
  itemsPerDay: 1_000,
};
const all = { pageSize: 50, since: null, unit: 'blocks' } as const;

describe('what is left of a list', () => {
  test('that was never read is a page at least', () => {
    expect(listHistory(nothingKnown, all)).toEqual({ least: 1, likely: null, requests: null });
  });

  test('whose start nobody knows is a range down to a page', () => {
    expect(listHistory(list, all)).toEqual({ least: 1, likely: null, requests: 10_001 });
  });

  test('with a start is no range, nor are gaps between what was read', () => {
    const since = new Date(Date.UTC(2026, 0, 1) - 1_000 * 2_000).toISOString();
    expect(listHistory(list, { ...all, since })).toEqual({ least: 11, likely: 11, requests: 11 });
    const gaps = [1, 2].map((at) => ({
      from: at * 1_000,
      to: at * 1_000 + 99,
      endsAt: null,
      near: null,
    }));
    const { least, requests } = listHistory({ ...list, gaps }, all);
    expect([least, requests]).toEqual([3, 3]);
  });

  test('that is covered is nothing', () => {
    expect(listHistory({ ...list, gaps: [] }, all)).toEqual(none);
  });
});

test('a day of a list that was never read takes its polls at least', () => {
  const settings = { pageSize: 50, overlapMs: 30_000, pollsPerDay: 288, resweeps: [] };
  expect(listUpkeep(nothingKnown, settings)).toMatchObject({ least: 288, requests: null });
  expect(listUpkeep(list, settings)).toMatchObject({ least: 288, likely: 288 });
});

const batches: BatchFacts = {
  ...noBatchKnown,
  latestBatch: 1_000,
  read: 2,
  blocks: 400,
  lowest: { batch: 899, height: 0, at: 0 },
  highest: { batch: 999, height: 20_000, at: dayMs },
};

describe('what is left of batches', () => {
  const range = { from: 1, to: null, pageSize: 50 };

  test('is not known before the newest was searched, unless the range has an end', () => {
    expect(batchHistory(noBatchKnown, range)).toMatchObject({ requests: null });
    expect(batchHistory(noBatchKnown, { ...range, to: 10 })).toEqual({
      least: 30,
      likely: null,
      requests: 290,
    });
  });

  test('goes by those that were read', () => {
    expect(batchHistory(batches, range)).toEqual({ least: 4491, likely: 4491, requests: 4491 });
  });
});

test('a day of batches is a range, because they are read again only until they are verified', () => {
  const settings = { pollsPerDay: 144, reread: 2, to: null, pageSize: 50 };
  const { least, likely, requests } = batchUpkeep(batches, settings);
  expect(likely).toBeNull();
  expect((requests ?? 0) - least).toBe(288);
  expect(batchUpkeep(batches, { ...settings, reread: 0 }).likely).toBe(least);
  expect(batchUpkeep(batches, { ...settings, to: 10 })).toEqual(none);
});

test('the length of a ranking is known at its end', () => {
  const how = { unit: 'blocks', pageSize: 50, pollsPerDay: 4 } as const;
  const settings = { schedule: '0 */6 * * *', timezone: 'UTC', freshness: null };
  expect(rankedStatus.estimate({ requests: null }, settings, how)).toEqual({
    history: { least: 1, likely: null, requests: null },
    upkeep: { least: 4, likely: null, requests: null },
  });
  expect(rankedStatus.estimate({ requests: 6 }, settings, how)).toEqual({
    history: none,
    upkeep: { least: 24, likely: 24, requests: 24 },
  });
});
