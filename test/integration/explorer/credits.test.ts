import { drizzle } from 'drizzle-orm/node-postgres';
import { expect, test } from 'vitest';
import { statusFaults, type Faults, type StatusFault } from '../../../simulator/index.ts';
import { rateHeaders } from '../../../src/explorer/response.ts';
import { readCredits, sumCredits } from '../../../src/status/credits.ts';
import { freshDatabase } from '../../harness/database.ts';
import { openScene, rejection } from './keyed.ts';

test('credits reported on another day stop no request', async () => {
  const { query, open } = await openScene();
  const { budget, fetch } = await open();
  const slot = await budget.take('live', new AbortController().signal);
  const limits = { limit: null, remaining: null, resetMs: null, creditsRemaining: 0 };
  const yesterday = new Date(Date.parse(slot.at) - 86_400_000).toISOString();
  await query('update etl.budget set credits_day = credits_day - 1');

  await budget.report({ slot: { ...slot, at: yesterday }, error: null, limits });

  expect(await rejection(fetch())).toBeNull();
});

test('no request exceeds the daily credits, and the error says until when', async () => {
  const { simulator, open } = await openScene();
  const worker = await open({ dailyCredits: 60 });
  for (let i = 0; i < 3; i += 1) await worker.fetch();
  expect(await rejection(worker.fetch())).toMatchObject({
    failure: 'daily-limit',
    detail: expect.stringMatching(
      /^the 60 credits of a day are used \(daily_credits in a file\); no request before .* 00:00:00 UTC$/,
    ),
  });
  expect(simulator.requests).toBe(3);
});

test('a new day has its own credits', async () => {
  const { simulator, query, open } = await openScene();
  const worker = await open({ dailyCredits: 20 });
  await worker.fetch();
  await query('update etl.budget set credits_day = credits_day - 1');
  await worker.fetch();
  expect(simulator.requests).toBe(2);
});

test('a clock that is set back past midnight does not renew the credits', async () => {
  const { simulator, query, open } = await openScene();
  const worker = await open({ dailyCredits: 20 });
  await worker.fetch();
  await query('update etl.budget set credits_day = credits_day + 1');
  expect(await rejection(worker.fetch())).toMatchObject({ failure: 'daily-limit' });
  expect(simulator.requests).toBe(1);
});

test('backfill leaves credits to live polls', async () => {
  const { simulator, open } = await openScene();
  const worker = await open({ dailyCredits: 400 });
  const untilRefused = async (lane: 'live' | 'backfill') => {
    const before = simulator.requests;
    // Ends: twenty requests are all that the day allows.
    while ((await rejection(worker.fetch(lane))) === null);
    return simulator.requests - before;
  };
  // At noon: half of the fifth that is kept in the morning.
  expect([await untilRefused('backfill'), await untilRefused('live')]).toEqual([18, 2]);
});

/** Reports what an answer's header states of the credits, as the next request's slot is taken. */
async function openReported(options: { requestsPerSecond?: number; dailyCredits?: number } = {}) {
  const scene = await openScene({ limits: () => ({ headers: 'absent' }) });
  const { budget, fetch } = await scene.open({ requestsPerSecond: 5, ...options });
  const report = async (creditsRemaining: number | null, limit: number | null = null) => {
    const slot = await budget.take('live', new AbortController().signal);
    const limits = { limit, remaining: null, resetMs: null, creditsRemaining };
    await budget.report({ slot, error: null, limits });
  };
  return { ...scene, report, fetch };
}

test('history leaves credits to what is new by the balance that the explorer reports, without a limit of ours', async () => {
  const { query, report, fetch } = await openReported();
  await query(
    'update etl.budget set credits_day = now() at time zone $$utc$$, credits_spent = 340',
  );
  // With the 360 that are spent a day of 400: at noon a tenth of it is kept.
  await report(40);
  expect(await rejection(fetch('backfill'))).toMatchObject({
    failure: 'history-share',
    detail: expect.stringMatching(/^history has used its share of the credits that the explorer/),
  });
  expect(await rejection(fetch('live'))).toBeNull();
});

test('history tests a reported balance that stops it, if nothing else was requested for five minutes', async () => {
  const { simulator, query, report, fetch } = await openReported();
  await query(
    'update etl.budget set credits_day = now() at time zone $$utc$$, credits_spent = 340',
  );
  await report(40);
  const passMinutes = (minutes: number) =>
    query('update etl.budget set next_at = next_at - make_interval(mins => $1)', [minutes]);
  await rejection(fetch('backfill'));
  await passMinutes(4);
  await rejection(fetch('backfill'));
  expect(simulator.requests).toBe(0);

  await passMinutes(2);
  expect(await rejection(fetch('backfill'))).toBeNull();
  expect(await rejection(fetch('backfill'))).toMatchObject({ failure: 'history-share' });
  expect(simulator.requests).toBe(1);
});

test.each<[string, number | null, { requestsPerSecond?: number }]>([
  ['its reported rate', 15, {}],
  ['its configured rate', null, { requestsPerSecond: 15 }],
])(
  'a plan above the free one, by %s, keeps nothing of its balance',
  async (_by, limit, options) => {
    const { query, report, fetch } = await openReported(options);
    await query(
      'update etl.budget set credits_day = now() at time zone $$utc$$, credits_spent = 340',
    );
    await report(40, limit);
    expect(await rejection(fetch('backfill'))).toBeNull();
  },
);

test.each([10, 0, -20, -5_000_000])(
  'a reported balance of %i stops no request, and is shown',
  async (balance) => {
    const { db, report, fetch } = await openReported();
    await report(balance);
    expect(await rejection(fetch('live'))).toBeNull();
    expect(await rejection(fetch('backfill'))).toBeNull();
    expect((await readCredits(db)).keys).toMatchObject([{ limit: null, left: balance }]);
  },
);

test('headers of any number can be stored', async () => {
  const { budget, fetch } = await (await openScene()).open();
  for (const text of ['0.000001', '-0.5', '999999999999999.9', '-999999999999999', '1e999', '-0']) {
    const slot = await budget.take('live', new AbortController().signal);
    const limits = rateHeaders({ 'x-credits-remaining': text, 'x-ratelimit-limit': text });
    await budget.report({ slot, error: null, limits });
    expect(await rejection(fetch()), text).toBeNull();
  }
});

test('the service’s 402 stops a free plan after its last page', async () => {
  const { seen, open } = await openScene({ limits: () => ({ dailyCredits: 60 }) });
  const worker = await open();
  for (let i = 0; i < 3; i += 1) await worker.fetch();
  for (let i = 0; i < 2; i += 1) {
    expect(await rejection(worker.fetch())).toMatchObject({ failure: 'out-of-credits' });
  }
  expect(seen.map(({ status }) => status)).toEqual([200, 200, 200, 402]);
});

test('a 402 for credits pauses the key to the end of the day, unless a test gets a page', async () => {
  let answer: StatusFault | null = '402-credits';
  const faults: Faults = () => (answer === null ? null : statusFaults[answer]);
  const { simulator, query, open } = await openScene({ faults });
  const { fetch } = await open();
  const passMinutes = (minutes: number) =>
    query('update etl.budget set next_at = next_at - make_interval(mins => $1)', [minutes]);
  expect(await rejection(fetch())).toMatchObject({
    failure: 'out-of-credits',
    detail: expect.stringMatching(/^HTTP 402, .*; no request before .* 12:0\d:\d\d UTC$/),
  });
  expect(
    await query(
      `select to_char(paused_until at time zone 'utc', 'HH24:MI') as until from etl.budget`,
    ),
  ).toEqual([{ until: '00:00' }]);
  await passMinutes(4);
  await rejection(fetch());
  expect(simulator.requests, 'before the test').toBe(1);

  await passMinutes(2);
  answer = '401';
  expect(await rejection(fetch()), 'refused meanwhile').toMatchObject({ failure: 'unauthorized' });
  await query('update etl.budget set paused_until = now()');
  answer = null;
  expect(await rejection(fetch()), 'accepted').toBeNull();
  expect(await rejection(fetch())).toBeNull();
  expect(simulator.requests).toBe(4);
});

test.each(['401', '402-key'] as const)(
  'after a %s, one request tests the key for all workers',
  async (name) => {
    let isRefused = true;
    const faults: Faults = () => (isRefused ? statusFaults[name] : null);
    const { simulator, query, open } = await openScene({ faults, latencyMs: 50 });
    const workers = [await open(), await open()];
    const all = () =>
      Promise.all(
        workers.flatMap(({ fetch }) => [rejection(fetch()), rejection(fetch('backfill'))]),
      );
    const timePasses = () => query('update etl.budget set paused_until = now()');
    await rejection(workers[0]!.fetch());
    await all();
    expect(simulator.requests, 'while it is refused').toBe(1);
    await timePasses();
    await all();
    expect(simulator.requests, 'when it is looked at').toBe(2);
    isRefused = false;
    await timePasses();
    expect(await all(), 'when it is accepted').toEqual([null, null, null, null]);
  },
);

test('a test of a refused key that gets no page leaves it refused', async () => {
  let answer = statusFaults['401'];
  const { simulator, query, open } = await openScene({ faults: () => answer });
  const { fetch } = await open({ maxAttempts: 1 });
  await rejection(fetch());
  answer = { status: 200, body: { status: 'maintenance' }, headers: {} };
  await query('update etl.budget set paused_until = now()');

  expect(await rejection(fetch())).toMatchObject({ failure: 'envelope-invalid' });

  expect(simulator.requests).toBe(2);
  expect(await query('select pause_class from etl.budget')).toEqual([
    { pause_class: 'unauthorized' },
  ]);
});

test('a process that starts tests a refused key at once', async () => {
  let isRefused = true;
  const faults: Faults = () => (isRefused ? statusFaults['401'] : null);
  const { open } = await openScene({ faults });
  await rejection((await open()).fetch());
  isRefused = false;
  const next = await open();
  expect(await rejection(next.fetch())).toBeNull();
});

test('what a refused key has left is in no sum, also between the requests that test it', async () => {
  const { query, pool } = await freshDatabase();
  await query(`
    insert into etl.budget (key_fingerprint, requests_per_second, next_at, credits_day, credits_spent,
      credits_remaining, paused_until, pause_class)
    select key, 5, now(), (now() at time zone 'utc')::date, 40, 1000, now() + make_interval(mins => mins), class
    from (values ('a', null, null), ('b', -1, 'unauthorized'), ('c', 1, 'key-missing'), ('d', -1, 'throttled'))
      as key(key, mins, class)`);
  const credits = async () => sumCredits((await readCredits(drizzle(pool))).keys);
  const listed = () =>
    query(`
      select remaining::int, paused_until > now() as is_paused, pause_class
      from explorer.credits order by pause_class nulls first`);
  expect(await credits()).toEqual({ spent: 160, limit: null, left: 2_000 });
  const usable = { remaining: 1_000, is_paused: null, pause_class: null };
  expect(await listed()).toEqual([
    usable,
    usable,
    { remaining: null, is_paused: true, pause_class: 'key-missing' },
    { remaining: null, is_paused: null, pause_class: 'unauthorized' },
  ]);

  await query(`delete from etl.budget where key_fingerprint in ('a', 'd')`);
  expect(await credits()).toEqual({ spent: 80, limit: null, left: null });
});
