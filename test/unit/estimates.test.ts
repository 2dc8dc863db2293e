import { describe, expect, test } from 'vitest';
import { none, type PollFacts } from '../../src/lists/list.ts';
import { factories } from '../../src/lists/factories/index.ts';
import { newestFirstKind } from '../../src/lists/newest-first/index.ts';
import { numberedKind } from '../../src/lists/numbered/index.ts';
import { optimismBatchBlocks } from '../../src/lists/optimism-batch-blocks/index.ts';
import { rankedKind } from '../../src/lists/ranked/index.ts';
import { userOperations } from '../../src/lists/user-operations/index.ts';

const poll = { schedule: '*/10 * * * *', timezone: 'UTC', freshness: null };
const how = { pageSize: 50, pollsPerDay: 144 };

const list = {
  polls: null as PollFacts | null,
  isBegun: true,
  gaps: [{ from: 0, to: 999_999, endsAt: Date.UTC(2026, 0, 1), near: null }],
  itemsPerBlock: 0.5,
  blockMs: 2_000,
  itemsPerDay: 1_000,
};
const whole = { ...poll, overlapMs: 30_000, since: null, resweep: [], parallel: null };
const operations = newestFirstKind(userOperations);
const estimate = (facts: Parameters<typeof operations.estimate>[0], settings: object = {}) =>
  operations.estimate(facts, { ...whole, ...settings }, how);

describe('the estimate for a list', () => {
  test('that was never read is at least a page', () => {
    expect(estimate(null).history).toEqual({ least: 1, likely: null, most: null });
  });

  test('whose start is unknown is a range from one page up', () => {
    expect(estimate(list).history).toEqual({ least: 1, likely: null, most: 10_001 });
  });

  test('with a start, or for gaps between pages, is exact', () => {
    const since = new Date(Date.UTC(2026, 0, 1) - 1_000 * 2_000).toISOString();
    expect(estimate(list, { since }).history).toEqual({ least: 11, likely: 11, most: 11 });
    const gaps = [1, 2].map((at) => ({
      from: at * 1_000,
      to: at * 1_000 + 99,
      endsAt: null,
      near: null,
    }));
    const { least, most } = estimate({ ...list, gaps }).history;
    expect([least, most]).toEqual([3, 3]);
  });

  test('that is covered is zero', () => {
    expect(estimate({ ...list, gaps: [] }).history).toEqual(none);
  });
});

test('a day of a list that was never read costs at least its polls', () => {
  expect(estimate(null).upkeep).toMatchObject({ least: 144, most: null });
  expect(estimate(list).upkeep).toMatchObject({ least: 144, likely: 144 });
});

test('a day of polls costs what the last ones took, once a few have ended', () => {
  const upkeep = (count: number) =>
    estimate({ ...list, polls: { count, credits: 50 } }).upkeep.likely;
  expect(upkeep(4)).toBe(144);
  expect(upkeep(5)).toBe(360);
});

const wanted = { ...poll, parallel: 4, fromBatch: 1, toBatch: null, reread: 2 };
const batches = {
  polls: null as PollFacts | null,
  latestBatch: 1_000,
  read: 2,
  blocksPerNumber: 200,
  perDay: 100,
  blocksEach: 200,
  pageItems: null as number | null,
};
const estimateBatches = (facts: typeof batches | null, settings: object = {}) =>
  numberedKind(optimismBatchBlocks).estimate(facts, { ...wanted, ...settings }, how);

describe('the estimate for batches', () => {
  test('is unknown before the newest is found, unless the range has an end', () => {
    expect(estimateBatches(null).history).toMatchObject({ most: null });
    expect(estimateBatches(null, { toBatch: 10 }).history).toEqual({
      least: 30,
      likely: null,
      most: 290,
    });
  });

  test('is nothing once all are read, even if no page had a block', () => {
    expect(estimateBatches({ ...batches, read: 1_000, pageItems: 0 }).history).toEqual(none);
  });

  test('follows from those that were read', () => {
    expect(estimateBatches(batches).history).toEqual({ least: 4491, likely: 4491, most: 4491 });
  });
});

test('a day of batches is a range, because they are read again only until they are verified', () => {
  const { least, likely, most } = estimateBatches(batches).upkeep;
  expect(likely).toBeNull();
  expect((most ?? 0) - least).toBe(288);
  expect(estimateBatches(batches, { reread: 0 }).upkeep.likely).toBe(least);
  expect(estimateBatches(batches, { toBatch: 10 }).upkeep).toEqual(none);
});

test('the length of a ranking is known at its end', () => {
  const ranking = rankedKind(factories);
  const fewPolls = { ...how, pollsPerDay: 4 };
  expect(ranking.estimate({ requests: null }, poll, fewPolls)).toEqual({
    history: { least: 1, likely: null, most: null },
    upkeep: { least: 4, likely: null, most: null },
  });
  expect(ranking.estimate({ requests: 6 }, poll, fewPolls)).toEqual({
    history: none,
    upkeep: { least: 24, likely: 24, most: 24 },
  });
});
