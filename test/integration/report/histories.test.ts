import { drizzle } from 'drizzle-orm/node-postgres';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { freshnessHistory } from '../../../src/report/freshness-history.ts';
import { spentHistory } from '../../../src/report/burn-down.ts';
import { readThroughput } from '../../../src/report/throughput.ts';
import { windowOfDay, windowUpTo, type WindowLength } from '../../../src/time-window.ts';
import { createTestDatabase, type TestDatabase } from '../../harness/database.ts';
import { insertFeeds, noteFeed, noteLane } from '../../harness/minutes.ts';

const at = Date.parse('2026-11-22T12:07:30Z');
const hour: WindowLength = { seconds: 3600, binSeconds: 60 };
const day: WindowLength = { seconds: 86_400, binSeconds: 900 };
const month: WindowLength = { seconds: 30 * 86_400, binSeconds: 21_600 };

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
  await insertFeeds(database.pool, 3);
});
afterAll(() => database.drop());
beforeEach(() => database.pool.query('truncate etl.feed_minutes, etl.lane_minutes'));

const [first, second, third] = [
  '10/user-operations',
  '11/user-operations',
  '12/user-operations',
] as const;

const histories = (length: WindowLength, feeds: readonly string[] = [first, second, third]) =>
  freshnessHistory(drizzle(database.pool), feeds, windowUpTo(at, length));
const throughput = (length: WindowLength) =>
  readThroughput(drizzle(database.pool), windowUpTo(at, length));

test('nothing was noted yet', async () => {
  expect(await histories(day)).toEqual([]);
  expect(await throughput(day)).toEqual([]);
});

test('a bin of freshness has the worst of its minutes, each by its own objective', async () => {
  await noteFeed(database.pool, first, {
    '2026-11-22T12:00:00Z': { lag_s: 100, looked_age_s: 30, objective_s: 600 },
    '2026-11-22T12:01:00Z': { lag_s: 160, looked_age_s: 90, objective_s: 600 },
    // The configuration was mended: the same age is late by the objective of its time alone.
    '2026-11-22T12:02:00Z': { lag_s: 40, looked_age_s: 60, objective_s: 50 },
  });
  expect(await histories(day)).toEqual([
    { feed: first, bins: [{ bin: 95, age_s: 90, lag_s: 160, objective_s: 50, share: 1.2 }] },
  ]);
});

test('what a feed does not have yet is null, and no zero', async () => {
  await noteFeed(database.pool, first, {
    '2026-11-22T12:00:00Z': { lag_s: null, looked_age_s: null, objective_s: null },
    '2026-11-22T11:00:00Z': { lag_s: 5, looked_age_s: 5, objective_s: 0 },
  });
  const [{ bins } = { bins: [] }] = await histories(day);
  expect(bins).toEqual([
    { bin: 91, age_s: 5, lag_s: 5, objective_s: 0, share: null },
    { bin: 95, age_s: null, lag_s: null, objective_s: null, share: null },
  ]);
});

test('bins without a row are holes, at the borders of the window too', async () => {
  await noteFeed(database.pool, second, {
    '2026-11-21T12:14:00Z': {},
    '2026-11-21T12:15:00Z': {},
    '2026-11-22T12:14:00Z': {},
    '2026-11-22T12:15:00Z': {},
  });
  const [noted] = await histories(day);
  expect([noted?.feed, noted?.bins.map(({ bin }) => bin)]).toEqual([second, [0, 95]]);
});

test('only the feeds that are asked for are read', async () => {
  await noteFeed(database.pool, first, { '2026-11-22T12:00:00Z': {} });
  await noteFeed(database.pool, third, { '2026-11-22T12:00:00Z': {} });
  expect((await histories(day, [third])).map(({ feed }) => feed)).toEqual([third]);
  expect((await histories(day)).map(({ feed }) => feed)).toEqual([first, third]);
  expect(await histories(day, ["10'; drop table etl.feeds --"])).toEqual([]);
});

test('quarters of an hour and minutes make one line, without a hole between them', async () => {
  const minutes: Record<string, object> = {};
  // Thinned up to noon of the day before, minute by minute since: to the present.
  for (let time = Date.parse('2026-11-20T00:00:00Z'); time < at;) {
    const span_s = time < Date.parse('2026-11-21T12:00:00Z') ? 900 : 60;
    minutes[new Date(time).toISOString()] = { span_s };
    time += span_s * 1000;
  }
  await noteFeed(database.pool, first, minutes);
  const binsOf = async (length: WindowLength) =>
    (await histories(length))[0]?.bins.map(({ bin }) => bin);
  expect(await binsOf(month)).toEqual(Array.from({ length: 11 }, (_, index) => 109 + index));
  expect(await binsOf(day)).toEqual(Array.from({ length: 96 }, (_, bin) => bin));
  const worked = await throughput(month);
  // Six hours each, however few rows tell of them; the newest has begun.
  expect(worked.map((bin) => bin.minutes)).toEqual([...Array.from({ length: 10 }, () => 360), 8]);
});

test('what all processes did in a minute adds up, by lane and by class of failure', async () => {
  await noteLane(database.pool, first, 'live', {
    '2026-11-22T12:05:00Z': { inserted: 3, changed: 2, requests: 1, failures: { throttled: 2 } },
  });
  await noteLane(database.pool, first, 'live', {
    '2026-11-22T12:05:00Z': { inserted: 10, requests: 2, failures: { unreachable: 1 } },
  });
  await noteLane(database.pool, second, 'backfill', {
    '2026-11-22T12:05:00Z': { inserted: 50, requests: 4, failures: { throttled: 1 } },
  });
  expect(await throughput(hour)).toEqual([
    {
      bin: 57,
      minutes: 1,
      lanes: {
        live: { rows: 15, requests: 3, credits: 60 },
        backfill: { rows: 50, requests: 4, credits: 80 },
      },
      failures: { throttled: 3, unreachable: 1 },
    },
  ]);
});

test('a minute in which somebody worked and did nothing is zero; one that nobody noted is a hole', async () => {
  await noteFeed(database.pool, third, { '2026-11-22T12:01:00Z': {}, '2026-11-22T12:03:00Z': {} });
  await noteLane(database.pool, first, 'live', { '2026-11-22T12:03:00Z': { requests: 1 } });
  const bins = await throughput(hour);
  expect(bins.map(({ bin, minutes, lanes }) => [bin, minutes, lanes.live?.requests])).toEqual([
    [53, 1, undefined],
    [55, 1, 1],
  ]);
  expect(bins[0]).toEqual({ bin: 53, minutes: 1, lanes: {}, failures: {} });
});

test('a bin of many minutes counts those in which somebody worked', async () => {
  await noteFeed(database.pool, first, { '2026-11-22T12:01:00Z': {}, '2026-11-22T12:04:00Z': {} });
  await noteFeed(database.pool, second, { '2026-11-22T12:04:00Z': {} });
  expect((await throughput(day)).map(({ bin, minutes }) => [bin, minutes])).toEqual([[95, 2]]);
});

test('the day of credits begins and ends at midnight UTC', async () => {
  await noteLane(database.pool, first, 'backfill', {
    '2026-11-21T23:59:00Z': { requests: 1_000 },
    '2026-11-22T00:00:00Z': { requests: 10 },
    '2026-11-22T00:16:00Z': { requests: 5 },
    '2026-11-22T11:55:00Z': { requests: 3 },
    '2026-11-23T00:00:00Z': { requests: 1_000 },
  });
  const window = windowOfDay(at, 900);
  const noted = await readThroughput(drizzle(database.pool), window);
  expect(spentHistory(window, noted, { spent: 360, at })).toEqual({
    stretches: [
      [
        { place: 0, spent: 0 },
        { place: 1, spent: 200 },
        { place: 2, spent: 300 },
      ],
      [
        { place: 47, spent: 300 },
        { place: 48, spent: 360 },
      ],
    ],
    unnoted: 0,
  });
});
