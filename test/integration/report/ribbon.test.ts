import { drizzle } from 'drizzle-orm/node-postgres';
import fc from 'fast-check';
import type { Pool } from 'pg';
import { expect, test } from 'vitest';
import type { RibbonWindow } from '../../../src/lists/ribbon.ts';
import { newestFirst } from '../../../src/lists/newest-first/index.ts';
import { numbered } from '../../../src/lists/numbered/index.ts';
import { ribbonExtent } from '../../../src/report/ribbon-extent.ts';
import {
  bucketsOf,
  segmentsOf,
  startOf,
  type RibbonPart,
  type RibbonState,
} from '../../../src/report/ribbon-state.ts';
import { newestWindow } from '../../../src/report/ribbon-times.ts';
import { walksOfSegments } from '../../../src/report/ribbon-walks.ts';
import { ribbonParts } from '../../../src/report/ribbon.ts';
import { freshDatabase } from '../../support/database.ts';

const numRuns = 60;
const highest = 40;
const list = { feed: '10/user-operations', chain_id: 10, operation: 'user-operations' };
const batches = {
  feed: '10/optimism-batch-blocks',
  chain_id: 10,
  operation: 'optimism-batch-blocks',
};

const gravity: readonly RibbonState[] = [
  'missing',
  'doubtful',
  'unknown',
  'reading',
  'waiting',
  'unwanted',
  'proved',
];

const number = fc.integer({ min: 0, max: highest });
const range = fc
  .tuple(number, number)
  .map(([one, other]) => ({ from: Math.min(one, other), to: Math.max(one, other) }));
const windows = fc.record({ range, buckets: fc.integer({ min: 1, max: 12 }) });

const isIn = (ranges: readonly RibbonWindow[], at: number) =>
  ranges.some(({ from, to }) => from <= at && at <= to);
const spell = (ranges: readonly RibbonWindow[]) =>
  `{${ranges.map(({ from, to }) => `[${from},${to}]`).join()}}`;

/** What the segments say of each bucket must be the gravest state of its numbers, and their count be right. */
function expectSegments(
  { range: window, buckets: most }: { range: RibbonWindow; buckets: number },
  parts: readonly RibbonPart[],
  stateOf: (at: number) => RibbonState,
) {
  const buckets = bucketsOf(window, most);
  expect(parts.length).toBeLessThanOrEqual(3 * buckets * gravity.length);
  const shown = segmentsOf(window, buckets, parts).flatMap((segment) =>
    Array.from({ length: segment.last - segment.first + 1 }, () => segment.state),
  );
  const told = Array.from({ length: buckets }, (_, bucket) => {
    const states = numbersOf(
      startOf(window, buckets, bucket),
      startOf(window, buckets, bucket + 1),
    );
    return gravity.find((state) => states.some((at) => stateOf(at) === state));
  });
  expect(shown).toEqual(told);
  for (const segment of segmentsOf(window, buckets, parts)) {
    const inside = numbersOf(
      startOf(window, buckets, segment.first),
      startOf(window, buckets, segment.last + 1),
    ).filter((at) => stateOf(at) === segment.state);
    expect([segment.from, segment.to, segment.numbers]).toEqual([
      inside[0],
      inside.at(-1),
      inside.length,
    ]);
  }
}

const numbersOf = (from: number, end: number) =>
  Array.from({ length: end - from }, (_, index) => from + index);

interface ListScene {
  readonly proved: readonly RibbonWindow[];
  readonly quarantined: readonly RibbonWindow[];
  readonly running: readonly RibbonWindow[];
  readonly reachedSince: number | null;
}

async function fillList(pool: Pool, { proved, quarantined, running, reachedSince }: ListScene) {
  await pool.query('truncate etl.quarantine, etl.walks, etl.lane_totals, etl.feeds cascade');
  await pool.query(
    `insert into etl.feeds (chain_id, operation, kind, settings)
     values (10, 'user-operations', 'newest-first', '{"since": "2026-01-01T00:00:00Z"}')`,
  );
  const walk = (walks: readonly object[]) =>
    pool.query(
      `insert into etl.walks (chain_id, operation, lane, run_id, kind, scope, top, bottom, floor,
         proved, state, reason, from_head, finished_at)
       select 10, 'user-operations', 'backfill', 1, 'newest-first', scope, top, bottom, floor,
              proved::int8multirange, state, reason, false, case when state <> 'running' then now() end
       from json_to_recordset($1) as walk(top bigint, bottom bigint, floor bigint, proved text,
         state text, reason text, scope jsonb)`,
      [JSON.stringify(walks)],
    );
  const none = { floor: null, reason: 'floor', scope: { max_pages: 1 } };
  await walk([
    { ...none, top: highest, bottom: highest, proved: '{}', state: 'finished' },
    { ...none, top: highest, bottom: 0, proved: spell(proved), state: 'finished' },
    ...running.map(({ from, to }, at) => ({
      ...none,
      scope: { max_pages: at + 2 },
      top: highest,
      bottom: to,
      floor: from,
      proved: '{}',
      state: 'running',
      reason: null,
    })),
    ...(reachedSince === null
      ? []
      : [
          {
            ...none,
            top: highest,
            bottom: reachedSince,
            proved: '{}',
            state: 'finished',
            reason: 'since',
            scope: { since: '2026-01-01T00:00:00Z' },
          },
        ]),
  ]);
  await pool.query(
    `insert into etl.quarantine (chain_id, operation, page_id, reason, raw, raw_hash, scope, position,
       from_block, to_block)
     select 10, 'user-operations', 1, 'x', '{}', place::text, '{}', place, "from", "to"
     from json_to_recordset($1) as item("from" bigint, "to" bigint, place int)`,
    [JSON.stringify(quarantined.map((one, place) => ({ ...one, place })))],
  );
}

test('each bucket of a list shows the gravest state of its blocks', async () => {
  const { pool } = await freshDatabase();
  const scenes = fc.record({
    proved: fc.array(range, { maxLength: 4 }),
    quarantined: fc.array(range, { maxLength: 1 }),
    running: fc.array(range, { maxLength: 2 }),
    reachedSince: fc.option(number),
  });
  await fc.assert(
    fc.asyncProperty(scenes, windows, async (scene, window) => {
      await fillList(pool, scene);
      const hasEnd = isIn(scene.proved, 0);
      const limit = scene.reachedSince ?? 0;
      const isHole = (at: number) => at >= limit && at < highest && !isIn(scene.proved, at);
      // The hole that goes down to 0: all below the lowest that is proved.
      const isBottomless = (at: number) =>
        !hasEnd && limit === 0 && numbersOf(0, at + 1).every((below) => isHole(below));
      const stateOf = (at: number): RibbonState => {
        if (at < highest && isIn(scene.proved, at)) {
          return isIn(scene.quarantined, at) ? 'doubtful' : 'proved';
        }
        if (!isHole(at)) return 'unwanted';
        if (scene.running.some(({ from, to }) => from <= at && at < to)) return 'reading';
        return isBottomless(at) ? 'unknown' : 'missing';
      };
      // The head's block is no part of what may be proved: no window goes there.
      const cut = {
        ...window,
        range: {
          from: Math.min(window.range.from, highest - 1),
          to: Math.min(window.range.to, highest - 1),
        },
      };
      const buckets = bucketsOf(cut.range, cut.buckets);
      const parts = await ribbonParts(drizzle(pool), list, newestFirst.ribbon!, {
        window: cut.range,
        buckets,
      });
      expectSegments(cut, parts, stateOf);
    }),
    { numRuns },
  );
});

test('each bucket of a list of batches shows the gravest state of its numbers', async () => {
  const { pool } = await freshDatabase();
  const scenes = fc.record({
    read: fc.uniqueArray(
      fc.record({ at: number, state: fc.constantFrom('settled', 'open', 'empty') }),
      { maxLength: 20, selector: ({ at }) => at },
    ),
    proved: fc.array(range, { maxLength: 2 }),
    walked: fc.uniqueArray(number, { maxLength: 3 }),
    asked: fc.array(range, { maxLength: 2 }),
  });
  await fc.assert(
    fc.asyncProperty(scenes, windows, async ({ read, proved, walked, asked }, window) => {
      await pool.query('truncate etl.walks, etl.feeds, explorer.read_batches cascade');
      await pool.query(
        `insert into etl.feeds (chain_id, operation, kind, settings, asked)
         values (10, 'optimism-batch-blocks', 'numbered', '{}', $1)`,
        [spell(asked)],
      );
      await pool.query(
        `insert into explorer.read_batches (chain_id, batch_number, state, blocks_count, is_proved,
           walked_at, page_id)
         select 10, at, state, 0, is_proved, now(), 1
         from json_to_recordset($1) as batch(at bigint, state text, is_proved boolean)`,
        [JSON.stringify(read.map((one) => ({ ...one, is_proved: isIn(proved, one.at) })))],
      );
      await pool.query(
        `insert into etl.walks (chain_id, operation, lane, run_id, kind, scope, state)
         select 10, 'optimism-batch-blocks', 'backfill', 1, 'numbered',
                jsonb_build_object('batch', batch), 'running'
         from unnest($1::bigint[]) as batch`,
        [walked],
      );
      const settled = read.filter(({ at, state }) => state === 'settled' && isIn(asked, at));
      const head = settled.length === 0 ? Infinity : Math.max(...settled.map(({ at }) => at));
      const stateOf = (at: number): RibbonState => {
        const isRead = read.some((one) => one.at === at);
        if (isRead && isIn(proved, at)) return 'proved';
        if (walked.includes(at)) return 'reading';
        if (!isRead && !isIn(asked, at)) return 'unwanted';
        if (at > head) return 'waiting';
        return isRead ? 'doubtful' : 'missing';
      };
      const buckets = bucketsOf(window.range, window.buckets);
      const parts = await ribbonParts(drizzle(pool), batches, numbered.ribbon!, {
        window: window.range,
        buckets,
      });
      expectSegments(window, parts, stateOf);
    }),
    { numRuns },
  );
});

test('a list with 100,000 holes is drawn with some parts a bucket', async () => {
  const { pool } = await freshDatabase();
  const db = drizzle(pool);
  await fillList(pool, { proved: [], quarantined: [], running: [], reachedSince: null });
  await pool.query(
    `insert into etl.walks (chain_id, operation, lane, run_id, kind, scope, top, bottom, proved, state,
       reason, from_head, finished_at)
     select 10, 'user-operations', 'backfill', 1, 'newest-first', '{"max_pages": 9}', 1000000, 1,
            range_agg(int8range(at * 10 + 1, at * 10 + 9)), 'finished', 'floor', true, now()
     from generate_series(0, 99999) as at`,
  );
  const extent = await ribbonExtent(db, list, newestFirst.ribbon!);
  expect(extent).toEqual({ from: 1, to: 999_999, below: 'unknown' });
  const window = { from: 0, to: 999_999 };
  const parts = await ribbonParts(db, list, newestFirst.ribbon!, { window, buckets: 240 });
  expect(parts.length).toBeLessThan(3 * 240 * 2);
  const segments = segmentsOf(window, 240, parts);
  expect(segments.map(({ state }) => state)).toEqual(['missing']);
  expect(segments[0]).toMatchObject({ pieces: 100_000, from: 9, to: 999_999 });
  const [walks] = await walksOfSegments(db, list, newestFirst.ribbon!, segments);
  expect(walks).toMatchObject({ walks: 1, lanes: ['backfill'], isCut: false });
});

test('a span of time ends at the newest item, and begins where items are so old', async () => {
  const { pool } = await freshDatabase();
  await pool.query(
    `insert into explorer.user_operations (chain_id, hash, block_number, timestamp, page_id)
     select 10, at::text, at * 30, timestamptz '2026-01-01Z' + make_interval(mins => at), 1
     from generate_series(1, 3000) as at`,
  );
  const extent = { from: 30, to: 90_000 };
  const found = await newestWindow(drizzle(pool), list, newestFirst.ribbon!, {
    extent,
    spanMs: 3_600_000,
  });
  expect(found).toEqual({ from: 2_940 * 30, to: 90_000 });
});
