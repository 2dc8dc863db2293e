import { drizzle } from 'drizzle-orm/node-postgres';
import fc from 'fast-check';
import type { Pool } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ribbonsOf, type Range, type Ribbon } from '../../../src/report/ribbon/ribbon.ts';
import { newestOf, timesWithin } from '../../../src/report/ribbon/times.ts';
import type { PartState } from '../../../src/lists/ribbon.ts';
import {
  emptyScene,
  fillScene,
  highest,
  list,
  openRun,
  spell,
} from '../../harness/ribbon-scenes.ts';
import { createTestDatabase, type TestDatabase } from '../../harness/database.ts';

const numRuns = 60;
const batches = '10/optimism-batch-blocks';

const gravity: readonly PartState[] = [
  'gap',
  'held',
  'flight',
  'waiting',
  'unknown',
  'unwanted',
  'proved',
];

const number = fc.integer({ min: 0, max: highest });
const range = fc
  .tuple(number, number)
  .map(([one, other]) => ({ from: Math.min(one, other), to: Math.max(one, other) }));
const looks = fc.record({ window: range, resolution: fc.integer({ min: 1, max: 12 }) });

const isIn = (ranges: readonly Range[], at: number) =>
  ranges.some(({ from, to }) => from <= at && at <= to);
const numbersOf = ({ from, to }: Range) =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index);

let database: TestDatabase;
let pool: Pool;

beforeAll(async () => {
  database = await createTestDatabase();
  ({ pool } = database);
});

afterAll(() => database?.drop());

/** Each number has the state that the tables give it, and what is drawn is the gravest of a cell. */
function expectRibbon(ribbon: Ribbon, stateOf: (at: number) => PartState, resolution: number) {
  const { window, segments, amounts } = ribbon;
  const numbers = numbersOf(window);
  const size = Math.ceil(numbers.length / resolution);
  const cellOf = (at: number) => Math.floor((at - window.from) / size);
  expect(segments.length).toBeLessThanOrEqual(resolution);
  const cells = Map.groupBy(numbers, cellOf);
  const told = numbers.map((at) => {
    const inCell = new Set(cells.get(cellOf(at))?.map(stateOf));
    return gravity.find((state) => inCell.has(state));
  });
  expect(
    segments.flatMap((segment) => numbersOf(segment).map(() => segment.state)),
    'what is drawn',
  ).toEqual(told);
  for (const segment of segments) {
    const own = numbersOf(segment).filter((at) => stateOf(at) === segment.state);
    expect(segment.count).toBe(own.length);
  }
  const counts = Map.groupBy(numbers, stateOf);
  expect(new Map(amounts.map(({ state, count, ranges }) => [state, [count, ranges]]))).toEqual(
    new Map([...counts].map(([state, own]) => [state, [own.length, pieces(own).length]])),
  );
  const gaps = pieces(counts.get('gap') ?? []).toReversed();
  expect(ribbon.gaps).toEqual(gaps.slice(0, ribbon.gaps.length));
  expect(ribbon.gaps.length).toBe(Math.min(12, gaps.length));
}

/** Numbers as ranges. */
function pieces(numbers: readonly number[]): Range[] {
  const found: { from: number; to: number }[] = [];
  for (const at of numbers) {
    const last = found.at(-1);
    if (last?.to === at - 1) last.to = at;
    else found.push({ from: at, to: at });
  }
  return found;
}

const clipped = ({ from, to }: Range, most: number): Range => ({
  from: Math.min(from, most),
  to: Math.min(to, most),
});

test('each block of a list is drawn as the tables have it', async () => {
  const scenes = fc.record({
    proved: fc.array(range, { maxLength: 4 }),
    held: fc.array(range, { maxLength: 1 }),
    walked: fc.array(range, { maxLength: 2 }),
    lowestItem: fc.option(number),
    reachedSince: fc.option(number),
  });
  await fc.assert(
    fc.asyncProperty(scenes, looks, async (scene, { window, resolution }) => {
      await fillScene(pool, scene);
      // The walk met two older items at the block.
      const limit = scene.reachedSince === null ? 0 : scene.reachedSince + 1;
      const isCovered = (at: number) => isIn(scene.proved, at);
      const isBottomless = limit === 0 && !isCovered(0);
      const stateOf = (at: number): PartState => {
        if (isCovered(at)) return isIn(scene.held, at) ? 'held' : 'proved';
        if (isIn(scene.walked, at)) return 'flight';
        if (at < limit) return 'unwanted';
        return isBottomless && at <= (scene.lowestItem ?? highest) ? 'unknown' : 'gap';
      };
      const seen = clipped(window, highest - 1);
      const [ribbon] = await ribbonsOf(drizzle(pool), {
        resolution,
        windows: new Map([[list, seen]]),
        shares: new Map(),
      });
      expect(ribbon?.window).toEqual(seen);
      expectRibbon(ribbon!, stateOf, resolution);
    }),
    { numRuns },
  );
});

test('each batch is drawn as the tables have it', async () => {
  const scenes = fc.record({
    read: fc.uniqueArray(
      fc.record({ at: number, state: fc.constantFrom('settled', 'open', 'empty') }),
      { maxLength: 20, selector: ({ at }) => at },
    ),
    proved: fc.array(range, { maxLength: 2 }),
    walked: fc.uniqueArray(number, { maxLength: 3 }),
    asked: range,
  });
  await fc.assert(
    fc.asyncProperty(scenes, looks, async (scene, { window, resolution }) => {
      const { read, proved, walked, asked } = scene;
      await emptyScene(pool);
      await pool.query(
        `insert into etl.feeds (chain_id, operation, kind, settings, asked)
         values (10, 'optimism-batch-blocks', 'numbered', '{}', $1)`,
        [spell([asked])],
      );
      const run = await openRun(pool, 'optimism-batch-blocks');
      await pool.query(
        `insert into explorer.read_batches (chain_id, batch_number, state, blocks_count, is_proved,
           walked_at, page_id)
         select 10, at, state, case state when 'empty' then 0 else 1 end, is_proved, now(), 1
         from json_to_recordset($1) as batch(at bigint, state text, is_proved boolean)`,
        [JSON.stringify(read.map((one) => ({ ...one, is_proved: isIn(proved, one.at) })))],
      );
      await pool.query(
        `insert into etl.walks (chain_id, operation, lane, run_id, kind, scope, state)
         select 10, 'optimism-batch-blocks', 'backfill', $2, 'numbered',
                jsonb_build_object('batch', batch), 'running'
         from unnest($1::bigint[]) as batch`,
        [walked, run],
      );
      const wanted = read.filter(({ at }) => isIn([asked], at));
      const settled = wanted.filter(({ state }) => state === 'settled').map(({ at }) => at);
      const isNew = ({ at }: { at: number }) => !isIn(proved, at) && at > Math.max(0, ...settled);
      const heads = wanted.filter((one) => isNew(one) && one.state !== 'empty').length;
      const stateOf = (at: number): PartState => {
        const own = wanted.find((one) => one.at === at);
        if (!isIn([asked], at)) return 'unwanted';
        if (own !== undefined && isIn(proved, at)) return 'proved';
        if (walked.includes(at)) return 'flight';
        return own !== undefined && isNew(own) && heads <= 3 ? 'waiting' : 'gap';
      };
      // The first batch is 1.
      const [from, to] = [Math.max(1, window.from), Math.max(1, window.to)];
      const seen = clipped({ from, to }, asked.to);
      const [ribbon] = await ribbonsOf(drizzle(pool), {
        resolution,
        windows: new Map([[batches, seen]]),
        shares: new Map(),
      });
      expectRibbon(ribbon!, stateOf, resolution);
    }),
    { numRuns },
  );
});

test('times that lie take no other from a ribbon', async () => {
  await fillScene(pool, { proved: [], held: [], walked: [], lowestItem: null, reachedSince: null });
  await pool.query(
    `insert into explorer.user_operations (chain_id, hash, block_number, timestamp, page_id)
     select 10, at::text, at,
            case when at in (1, 20) then timestamptz '9999-12-31Z' when at = 9 then '1999-01-01Z'
                 else timestamptz '2026-01-01Z' + make_interval(mins => at) end, 1
     from generate_series(1, 20) as at`,
  );
  const told = await timesWithin(drizzle(pool), new Map([[list, { from: 1, to: 20 }]]));
  const heights = told.get(list)?.map(({ height }) => height);
  expect(heights).toEqual([2, 3, 4, 5, 6, 7, 8, ...Array.from({ length: 10 }, (_, at) => 10 + at)]);
});

test('a span of time ends at the newest item, and begins where items are so old', async () => {
  await fillScene(pool, { proved: [], held: [], walked: [], lowestItem: null, reachedSince: null });
  await pool.query(
    `insert into explorer.user_operations (chain_id, hash, block_number, timestamp, page_id)
     select 10, at::text, at * 30, timestamptz '2026-01-01Z' + make_interval(mins => at), 1
     from generate_series(1, 3000) as at`,
  );
  const whole = { from: 30, to: 90_000 };
  const found = await newestOf(drizzle(pool), new Map([[list, whole]]), 3_600);
  expect(found.get(list)).toEqual({ from: 2_940 * 30, to: 90_000 });
});
