import { expect, test } from 'vitest';
import { createSnapshots } from '../../../src/http/server.ts';
import type { StatusDocument } from '../../../src/status/schema.ts';
import { emptyStatus, outageStatus } from '../../../src/status/status.ts';
import { observing } from '../../harness/http.ts';
import { feedOf, readingFeed } from '../../harness/status.ts';

const empty = emptyStatus(new Date());
const spentOf = (status: StatusDocument | null) => status?.credits.spent;
const withSpent = (spent: number): StatusDocument => ({
  ...empty,
  credits: { ...empty.credits, spent },
});

test('if the database is unreachable, the metrics of the process alone are served', async () => {
  const { scrape } = observing(async () => outageStatus(new Date(), new Error('gone')));
  const scraped = await scrape();
  expect(scraped.of('explorer_etl_database_up')).toBe(0);
  expect(scraped.of('explorer_etl_reasons', { code: 'database-unreachable' })).toBe(1);
  expect(scraped.of('process_cpu_seconds_total')).toBeGreaterThan(0);
  expect(scraped.all('explorer_etl_status_timestamp_seconds')).toEqual([]);
  expect(scraped.all('explorer_etl_budget_credits_spent')).toEqual([]);
});

test('if no status is read in time, the metrics of the process alone are served', async () => {
  const scraped = await observing(async () => null).scrape();
  expect(scraped.all('explorer_etl_database_up')).toEqual([]);
  expect(scraped.of('process_cpu_seconds_total')).toBeGreaterThan(0);
});

test('concurrent scrapes share one rendering, and later ones get a new one', async () => {
  let readings = 0;
  const { scrape } = observing(async () => {
    readings += 1;
    return null;
  });
  await Promise.all(Array.from({ length: 50 }, scrape));
  expect(readings).toBe(1);
  await scrape();
  expect(readings).toBe(2);
});

test('a scrape returns the last status while a slow one is read, and the new one next time', async () => {
  let nowMs = 0;
  const readings: ((status: StatusDocument) => void)[] = [];
  const snapshots = createSnapshots(
    () => new Promise((resolve) => readings.push(resolve)),
    () => nowMs,
  );
  const first = snapshots.recent();
  readings[0]?.(withSpent(20));
  expect(spentOf(await first)).toBe(20);
  nowMs += 30_001;
  // The second does not come: scrapes have the first, and wait for one reading together.
  expect([
    spentOf(await snapshots.recent()),
    spentOf(await snapshots.recent()),
    readings.length,
  ]).toEqual([20, 20, 2]);
  readings[1]?.(withSpent(40));
  await Promise.resolve();
  expect(spentOf(await snapshots.recent())).toBe(40);
  nowMs += 60_001;
  const later = snapshots.recent();
  readings[2]?.(withSpent(80));
  expect(spentOf(await later)).toBe(80);
});

// A page that does not change while the work that it shows slows the database down.
test.each([
  ['without running lanes', { ...empty, feeds: [feedOf()] }, 5_000],
  ['before the first feed', empty, 1_000],
  ['at work', { ...empty, feeds: [readingFeed()] }, 1_000],
])('%s, a status that takes longer to read is read less often', async (_, status, pauseMs) => {
  let nowMs = 0;
  let reads = 0;
  const snapshots = createSnapshots(
    async () => {
      reads += 1;
      nowMs += 100;
      return status;
    },
    () => nowMs,
  );
  await Promise.all([snapshots.newest(), snapshots.newest()]);
  nowMs += pauseMs - 1;
  await snapshots.newest();
  expect(reads).toBe(1);
  nowMs += 1;
  await snapshots.newest();
  expect(reads).toBe(2);
});

test('the time at which credits end is a metric only if it is before midnight', async () => {
  const as_of = '2026-03-04T10:00:00.000Z';
  const ends = '2026-03-04T19:40:00.000Z';
  const scraped = async (credits: StatusDocument['credits']) => {
    const { scrape } = observing(async () => ({ ...empty, as_of, credits }));
    const answer = await scrape();
    return {
      ends: answer.of('explorer_etl_credits_last_until_seconds'),
      left: answer.of('explorer_etl_budget_credits_remaining'),
      used: answer.of('explorer_etl_budget_used_ratio'),
    };
  };
  const money = { spent: 300, limit: 400, left: 100, keys: [] };
  expect(await scraped({ ...money, forecast: { kind: 'lasts-until', at: ends } })).toEqual({
    ends: Date.parse(ends) / 1000,
    left: 100,
    used: 0.75,
  });
  expect(await scraped({ ...money, left: 0, forecast: { kind: 'spent', until: ends } })).toEqual({
    ends: Date.parse(as_of) / 1000,
    left: 0,
    used: 1,
  });
  // Not limited, so not known: no zero that an alert would believe.
  const unknown = { spent: 300, limit: null, left: null, keys: [] };
  expect(await scraped({ ...unknown, forecast: { kind: 'no-limit' } })).toEqual({});
  expect(await scraped({ ...money, forecast: { kind: 'enough' } })).toEqual({
    left: 100,
    used: 0.75,
  });
});
