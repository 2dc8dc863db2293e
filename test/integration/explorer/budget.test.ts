import { expect, test } from 'vitest';
import { statusFaults, type Faults, type StatusFault } from '../../../simulator/index.ts';
import type { TestDatabase } from '../../harness/database.ts';
import { inLong } from '../../harness/long-cases.ts';
import { eventually } from '../../harness/process.ts';
import type { KeyPausedError } from '../../../src/explorer/error.ts';
import { openScene, rejection } from './keyed.ts';

const throttledFirst: readonly StatusFault[] = [
  '429-seconds',
  '429-bare',
  ...inLong<StatusFault>('429-date', '429-reset'),
];

test.each(throttledFirst)('a %s pauses the key for all workers, once', async (name) => {
  const faults: Faults = ({ number }) => (number === 0 ? statusFaults[name] : null);
  const { seen, query, open } = await openScene({ faults });
  const [first, second] = [await open(), await open()];
  const one = first.fetch();
  await eventually('the pause', async () => {
    const rows = await query('select from etl.budget where paused_until is not null');
    return rows.length === 1;
  });
  await Promise.all([one, second.fetch(), second.fetch('backfill')]);
  const [refused, ...later] = seen;
  const waits = later.map(({ at }) => at - (refused?.at ?? 0));
  expect({
    statuses: seen.map(({ status }) => status),
    tooEarly: waits.filter((ms) => ms < 980),
  }).toEqual({ statuses: [429, 200, 200, 200], tooEarly: [] });
});

test('a Retry-After of an hour ends the request with the time of the next, and none is sent before', async () => {
  const faults: Faults = () => ({
    ...statusFaults['429-bare'],
    headers: { 'retry-after': 3600 },
  });
  const { simulator, open } = await openScene({ faults });
  const worker = await open();
  const refused = await rejection(worker.fetch());
  const other = await rejection((await open()).fetch());
  for (const error of [refused, other]) {
    expect(error).toMatchObject({
      name: 'KeyPausedError',
      failure: 'throttled',
      detail: expect.stringMatching(/^HTTP 429, .*; no request before 20\d\d-.* UTC$/),
    });
  }
  expect(simulator.requests).toBe(1);
});

/** Two workers of a key whose first answer stated a wait of a day. */
async function openPausedScene() {
  const answers = {
    throttled: { ...statusFaults['429-bare'], headers: { 'retry-after': 86_400 } },
    refused: statusFaults['401'],
    page: null,
  };
  let answer: keyof typeof answers = 'throttled';
  const scene = await openScene({ faults: () => answers[answer], latencyMs: 50 });
  const workers = [await scene.open(), await scene.open()];
  await rejection(workers[0]!.fetch());
  return {
    ...scene,
    fetchAll: () =>
      Promise.all(
        workers.flatMap(({ fetch }) => [rejection(fetch()), rejection(fetch('backfill'))]),
      ),
    answer: (next: keyof typeof answers) => void (answer = next),
    passMinutes: (minutes: number) =>
      scene.query(
        `update etl.budget set next_at = next_at - make_interval(mins => $1),
           paused_until = paused_until - make_interval(mins => $1)`,
        [minutes],
      ),
  };
}

test('during a pause that the explorer states, one request in five minutes tests the key for all workers', async () => {
  const { simulator, fetchAll, answer, passMinutes } = await openPausedScene();
  await passMinutes(4);
  await fetchAll();
  expect(simulator.requests, 'before the test').toBe(1);

  await passMinutes(2);
  const [error] = await fetchAll();
  expect(simulator.requests, 'at the test').toBe(2);
  expect(error).toMatchObject({ name: 'KeyPausedError', failure: 'throttled' });
  // Times of two statements: the pause may be a millisecond longer.
  expect((error as KeyPausedError).retryAfterMs).toBeLessThan(6 * 60_000);

  answer('page');
  await passMinutes(6);
  // Those that come before its answer wait for the next test.
  expect(await fetchAll()).toContain(null);
  expect(await fetchAll()).toEqual([null, null, null, null]);
});

test('a process that starts keeps a pause that the explorer states', async () => {
  const { simulator, open } = await openPausedScene();
  expect(await rejection((await open()).fetch())).toMatchObject({ failure: 'throttled' });
  expect(simulator.requests).toBe(1);
});

test('a key that is refused during a pause that the explorer states is reported as refused', async () => {
  const { fetchAll, answer, passMinutes } = await openPausedScene();
  answer('refused');
  await passMinutes(6);
  expect(await fetchAll()).toContainEqual(expect.objectContaining({ failure: 'unauthorized' }));
});

test('a limit that only headers state is kept without a 429', async () => {
  const { seen, open } = await openScene({
    limits: () => ({ requestsPerSecond: 4 }),
  });
  const worker = await open();
  for (let i = 0; i < 8; i += 1) await worker.fetch();
  expect(seen.filter(({ status }) => status !== 200)).toEqual([]);
});

test('a response with no requests remaining pauses all workers until the reset', async () => {
  const { seen, open } = await openScene();
  const [first, second] = [await open(), await open()];
  const slot = await first.budget.take('live', new AbortController().signal);
  const limits = { limit: null, remaining: 0, resetMs: 700, creditsRemaining: null };
  const start = performance.now();
  await first.budget.report({ slot, error: null, limits });
  await Promise.all([first.fetch(), second.fetch()]);
  expect(seen.map(({ at }) => at - start).filter((ms) => ms < 690)).toEqual([]);
});

test.each([1, null])('a response with %j requests remaining pauses no one', async (remaining) => {
  const { query, open } = await openScene();
  const { budget } = await open();
  const slot = await budget.take('live', new AbortController().signal);
  const limits = { limit: null, remaining, resetMs: 60_000, creditsRemaining: null };

  await budget.report({ slot, error: null, limits });

  expect(await query('select from etl.budget where paused_until is not null')).toEqual([]);
});

test('a reported limit above the configured one does not raise it', async () => {
  const { seen, open } = await openScene({
    limits: () => ({ requestsPerSecond: 1000 }),
  });
  const worker = await open({ requestsPerSecond: 10 });
  // Three gaps of a tenth of a second, from before the first slot; a slot may begin some ms early.
  const start = performance.now();
  for (let i = 0; i < 4; i += 1) await worker.fetch();
  expect((seen.at(-1)?.at ?? 0) - start).toBeGreaterThan(250);
});

test.each(['live', 'backfill'] as const)(
  'slots that are reserved an hour ahead do not delay %s',
  async (lane) => {
    const { simulator, query, open } = await openScene();
    const worker = await open({ requestsPerSecond: 5 });
    await query(
      `update etl.budget set next_at = now() + interval '1 hour', queue_at = now() + interval '1 hour'`,
    );
    for (let i = 0; i < 3; i += 1) await worker.fetch(lane);
    expect(simulator.requests).toBe(3);
  },
);

test('slots of concurrent workers are numbered in their order', async () => {
  const { open } = await openScene();
  const workers = await Promise.all(
    Array.from({ length: 4 }, () => open({ requestsPerSecond: 400 })),
  );
  const pages = await Promise.all(
    workers.flatMap(({ fetch }) => Array.from({ length: 10 }, () => fetch('backfill'))),
  );
  const ids = pages.map(({ page_id }) => page_id);
  const byTime = pages.toSorted((a, b) => (a.at < b.at ? -1 : 1)).map(({ page_id }) => page_id);
  expect({ distinct: new Set(ids).size, byTime }).toEqual({
    distinct: 40,
    byTime: ids.toSorted((a, b) => a - b),
  });
});

/** Has Postgres note each slot that it hands out: when it is, and how long it is to wait for, in s. */
async function watchSlots(query: TestDatabase['query']) {
  await query(`
    create table public.slots (
      id integer generated always as identity, slot float8, gap float8, wait float8
    );
    create function public.note_slot() returns trigger language plpgsql as $$
    declare
      gap float8 := 1 / (0.97 * new.requests_per_second);
      slot float8 := extract(epoch from new.next_at)::float8 - gap;
    begin
      if new.next_at is distinct from old.next_at then
        insert into public.slots (slot, gap, wait)
        values (slot, gap, slot - extract(epoch from clock_timestamp())::float8);
      end if;
      return null;
    end $$;
    create trigger note_slot after update on etl.budget for each row execute function public.note_slot();
  `);
  return () => query('select * from public.slots order by id');
}

/** What the database's clock and a double lose at most, in s. */
const roundingS = 0.000_01;

test('slots of concurrent workers are an interval apart, so no second has more than its share', async () => {
  const { query, open } = await openScene();
  const slotsSoFar = await watchSlots(query);
  const workers = await Promise.all(
    Array.from({ length: 4 }, () => open({ requestsPerSecond: 100 })),
  );

  await Promise.all(
    workers.flatMap(({ fetch }, index) =>
      Array.from({ length: 30 }, () => fetch(index === 0 ? 'live' : 'backfill')),
    ),
  );

  const slots = await slotsSoFar();
  const tooClose = slots.filter(({ slot, gap }, index) => {
    const before = slots[index - 1];
    return before !== undefined && slot - before.slot < gap - roundingS;
  });
  expect({ handedOut: slots.length >= 120, tooClose }).toEqual({ handedOut: true, tooClose: [] });
});

test('backfill reserves slots at most 50 ms ahead, so live polls wait no longer', async () => {
  const { query, open } = await openScene();
  const slotsSoFar = await watchSlots(query);
  const { fetch } = await open({ requestsPerSecond: 100 });

  // One by one for live, and as many for history as ask at once.
  const history = Array.from({ length: 60 }, () => fetch('backfill'));
  for (let request = 0; request < 10; request += 1) await fetch('live');
  await Promise.all(history);

  const slots = await slotsSoFar();
  // The horizon, the slot that lies across it, and that of the only live request before.
  const late = slots.filter(({ wait, gap }) => wait > 0.05 + 2 * gap);
  expect({ handedOut: slots.length >= 70, late }).toEqual({ handedOut: true, late: [] });
});
