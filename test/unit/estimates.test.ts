import { describe, expect, test } from 'vitest';
import { about, none } from '../../src/lists/estimates.ts';
import { listHistory, listUpkeep } from '../../src/lists/newest-first/estimate.ts';
import { nothingKnown, type ListFacts } from '../../src/lists/newest-first/facts.ts';
import { batchHistory, batchUpkeep } from '../../src/lists/numbered/estimate.ts';
import { nothingKnown as noBatchKnown, type BatchFacts } from '../../src/lists/numbered/facts.ts';
import { rankingHistory, rankingUpkeep } from '../../src/lists/ranked/estimate.ts';
import type { Estimate } from '../../src/lists/list.ts';
import type { FeedForecast } from '../../src/report/plan/plan.ts';
import { scheduleFeeds } from '../../src/report/plan/schedule.ts';

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
    expect(listHistory(nothingKnown, all)).toMatchObject({
      least: 1,
      requests: null,
      reason: 'never-read',
    });
  });

  test('whose start nobody knows is a range down to a page', () => {
    expect(listHistory(list, all)).toMatchObject({
      least: 1,
      requests: 10_001,
      reason: 'start-unknown',
    });
  });

  test('with a start is no range, nor are holes between what was read', () => {
    const since = new Date(Date.UTC(2026, 0, 1) - 1_000 * 2_000).toISOString();
    expect(listHistory(list, { ...all, since })).toMatchObject({
      least: 11,
      requests: 11,
      reason: null,
    });
    const holes = [1, 2].map((at) => ({
      from: at * 1_000,
      to: at * 1_000 + 99,
      endsAt: null,
      near: null,
    }));
    const { least, requests } = listHistory({ ...list, gaps: holes }, all);
    expect([least, requests]).toEqual([3, 3]);
  });

  test('that is covered is nothing', () => {
    expect(listHistory({ ...list, gaps: [] }, all)).toEqual(none);
  });
});

test('a day of a list that was never read takes its polls at least', () => {
  const settings = { pageSize: 50, overlapMs: 30_000, pollsPerDay: 288, resweeps: [] };
  expect(listUpkeep(nothingKnown, settings)).toMatchObject({ least: 288, requests: null });
  expect(listUpkeep(list, settings)).toMatchObject({ reason: null, least: 288 });
});

const batches: BatchFacts = {
  ...noBatchKnown,
  frontier: 1_000,
  read: 2,
  blocks: 400,
  lowest: { batch: 899, height: 0, at: 0 },
  highest: { batch: 999, height: 20_000, at: dayMs },
};

describe('what is left of batches', () => {
  const range = { from: 1, to: null, pageSize: 50 };

  test('is not known before the newest was searched, unless the range has an end', () => {
    expect(batchHistory(noBatchKnown, range)).toMatchObject({ reason: 'newest-unknown' });
    expect(batchHistory(noBatchKnown, { ...range, to: 10 })).toMatchObject({
      least: 30,
      requests: 290,
      reason: 'size-unknown',
    });
  });

  test('goes by those that were read', () => {
    const { least, requests, reason, parts } = batchHistory(batches, range);
    expect(reason).toBeNull();
    expect(least).toBe(requests);
    expect(parts).toMatchObject([{ what: 'batch', count: 998 }]);
  });
});

test('a day of batches is a range, because they are read again only until they are proved', () => {
  const settings = { pollsPerDay: 144, reread: 2, to: null, pageSize: 50 };
  const { least, requests, reason } = batchUpkeep(batches, settings);
  expect(reason).toBe('reread-varies');
  expect((requests ?? 0) - least).toBe(288);
  expect(batchUpkeep(batches, { ...settings, reread: 0 }).reason).toBeNull();
  expect(batchUpkeep(batches, { ...settings, to: 10 })).toEqual(none);
});

test('a ranking tells its length at its end', () => {
  expect(rankingHistory({ requests: null })).toMatchObject({ reason: 'length-unknown' });
  expect(rankingHistory({ requests: 6 })).toEqual(none);
  expect(rankingUpkeep({ requests: null }, 4)).toMatchObject({ least: 4, requests: null });
  expect(rankingUpkeep({ requests: 6 }, 4)).toMatchObject({ least: 24, requests: 24 });
});

describe('the end of a history is bound', () => {
  const at = { at: new Date('2026-11-21T00:00:00Z'), spentToday: 0 };
  const left = (requests: number): Estimate =>
    about([{ what: 'ranking', count: 1, requests_each: requests }]);
  const one = (requests: number, walks: number | null): FeedForecast => ({
    chain_id: 10,
    operation: 'factories',
    feed: '10/factories',
    history: left(requests),
    upkeep: none,
    walks,
    done: { requests: 1, credits: 20, latencyMs: 250 },
  });
  const under = (requestsPerSecond: number, dailyCredits: number | null, forecast: FeedForecast) =>
    scheduleFeeds([forecast], { name: 'plan', requestsPerSecond, dailyCredits }, at).boundBy;

  test('by the answers, where one walk waits for each', () => {
    expect(under(5, null, one(900, 1))).toEqual({
      kind: 'latency',
      requests_per_second: 4,
      latency_ms: 250,
      feed: '10/factories',
    });
  });

  test('by the rate, where as many walks as pay share it', () => {
    expect(under(5, null, one(900, null))).toEqual({ kind: 'rate', requests_per_second: 5 });
    expect(under(2, null, one(900, 1))).toEqual({ kind: 'rate', requests_per_second: 2 });
  });

  test('by the credits, where a day of them is not enough', () => {
    const credits = { kind: 'credits', daily_credits: 2_000 };
    expect(under(5, 2_000, one(900, 1))).toEqual(credits);
    expect(under(5, 20_000, one(900, 1))).toMatchObject({ kind: 'latency' });
  });

  test('by nothing, where nothing is left', () => {
    expect(under(5, 2_000, one(0, 1))).toBeNull();
  });
});
