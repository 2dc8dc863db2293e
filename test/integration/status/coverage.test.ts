import { drizzle } from 'drizzle-orm/node-postgres';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { createPool } from '../../../src/db/pool.ts';
import {
  readCoverage,
  readStrips,
  sampleTimes,
  type CellState,
  type Range,
} from '../../../src/status/coverage.ts';
import { cellStates, type CoverageDocument } from '../../../src/status/endpoints.ts';
import { emptyScene, fillScene, highest, list, openRun, multirangeText } from './scenes.ts';
import { recountCoverage } from '../../../src/status/verify.ts';
import { sharedDatabase } from '../../harness/database.ts';

const numRuns = 15;
const batches = '10/optimism-batch-blocks';

const number = fc.integer({ min: 0, max: highest });
const range = fc
  .tuple(number, number)
  .map(([one, other]) => ({ from: Math.min(one, other), to: Math.max(one, other) }));
const looks = fc.record({ window: range, resolution: fc.integer({ min: 1, max: 12 }) });

const isIn = (ranges: readonly Range[], at: number) =>
  ranges.some(({ from, to }) => from <= at && at <= to);
const numbersOf = ({ from, to }: Range) =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index);

const database = sharedDatabase();

async function coverageOf(feed: string, window: Range, cells: number): Promise<CoverageDocument> {
  const coverage = await readCoverage(database.db, { feed, ...window, cells });
  if (coverage === null) throw new Error('no feed');
  return coverage;
}

/** Each number has the state that the tables give it, and what is drawn is the most important of a cell. */
function expectCoverage(
  { window, segments, gaps }: CoverageDocument,
  stateOf: (at: number) => CellState,
  resolution: number,
) {
  if (window === null) throw new Error('nothing is known');
  const numbers = numbersOf(window);
  const size = Math.ceil(numbers.length / resolution);
  const cellOf = (at: number) => Math.floor((at - window.from) / size);
  expect(segments.length).toBeLessThanOrEqual(resolution);
  const cells = Map.groupBy(numbers, cellOf);
  const drawn = numbers.map((at) => {
    const inCell = new Set(cells.get(cellOf(at))?.map(stateOf));
    return cellStates.find((state) => inCell.has(state));
  });
  expect(segments.flatMap((segment) => numbersOf(segment).map(() => segment.state))).toEqual(drawn);
  const missing = pieces(numbers.filter((at) => stateOf(at) === 'gap')).toReversed();
  expect(gaps.map(({ from, to }) => ({ from, to }))).toEqual(missing);
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

test('each block of a list has the state that the tables say', async () => {
  const scenes = fc.record({
    verified: fc.array(range, { maxLength: 4 }),
    held: fc.array(range, { maxLength: 1 }),
    walked: fc.array(range, { maxLength: 2 }),
    lowestItem: fc.option(number),
    reachedSince: fc.option(number),
  });
  await fc.assert(
    fc.asyncProperty(scenes, looks, async (scene, { window, resolution }) => {
      await fillScene(database.pool, scene);
      // The walk met two older items at the block.
      const limit = scene.reachedSince === null ? 0 : scene.reachedSince + 1;
      const isCovered = (at: number) => isIn(scene.verified, at);
      const isBottomless = limit === 0 && !isCovered(0);
      const stateOf = (at: number): CellState => {
        if (isCovered(at)) return isIn(scene.held, at) ? 'quarantined' : 'verified';
        if (isIn(scene.walked, at)) return 'reading';
        if (at < limit) return 'out-of-range';
        return isBottomless && at <= (scene.lowestItem ?? highest) ? 'unknown' : 'gap';
      };
      const seen = clipped(window, highest - 1);
      const coverage = await coverageOf(list, seen, resolution);
      expect(coverage.window).toEqual(seen);
      expectCoverage(coverage, stateOf, resolution);
    }),
    { numRuns },
  );
});

test('each batch has the state that the tables say', async () => {
  const scenes = fc.record({
    read: fc.uniqueArray(
      fc.record({ at: number, state: fc.constantFrom('settled', 'open', 'empty') }),
      { maxLength: 20, selector: ({ at }) => at },
    ),
    verified: fc.array(range, { maxLength: 2 }),
    walked: fc.uniqueArray(number, { maxLength: 3 }),
    requested: range,
  });
  await fc.assert(
    fc.asyncProperty(scenes, looks, async (scene, { window, resolution }) => {
      const { read, verified, walked, requested } = scene;
      await emptyScene(database.pool);
      await database.query(
        `insert into etl.feeds (chain_id, operation, kind, settings, target_numbers)
         values (10, 'optimism-batch-blocks', 'numbered', '{}', $1)`,
        [multirangeText([requested])],
      );
      const run = await openRun(database.pool, 'optimism-batch-blocks');
      await database.query(
        // A block each, which links to that of the batch below.
        `with batch as (
           select *, case when state <> 'empty'
             then row_number() over (partition by state <> 'empty' order by at) end as height
           from json_to_recordset($1) as batch(at bigint, state text, is_verified boolean)
         ), blocks as (
           insert into explorer.blocks (chain_id, height, hash, parent_hash, optimism_batch_number, page_id)
           select 10, height, height::text, (height - 1)::text, at, 1 from batch where height is not null
         )
         insert into explorer.read_batches (chain_id, batch_number, state, blocks_count, first_height,
           last_height, is_verified, walked_at, page_id)
         select 10, at, state, count(height) over (partition by at), height, height, is_verified, now(), 1
         from batch`,
        [JSON.stringify(read.map((one) => ({ ...one, is_verified: isIn(verified, one.at) })))],
      );
      await recountCoverage(database.db);
      await database.query(
        `insert into etl.walks (chain_id, operation, lane, run_id, kind, scope, state)
         select 10, 'optimism-batch-blocks', 'backfill', $2, 'numbered',
                jsonb_build_object('batch', batch), 'running'
         from unnest($1::bigint[]) as batch`,
        [walked, run],
      );
      const wanted = read.filter(({ at }) => isIn([requested], at));
      const settled = wanted.filter(({ state }) => state === 'settled').map(({ at }) => at);
      // The highest settled one waits too, until a batch beside it confirms it.
      const isNew = ({ at }: { at: number }) =>
        !isIn(verified, at) && at >= Math.max(0, ...settled);
      const heads = wanted.filter((one) => isNew(one) && one.state !== 'empty').length;
      const waiting = wanted
        .filter(({ at, state }) => state !== 'empty' && !isIn(verified, at))
        .map(({ at }) => at)
        .filter((at) => at > Math.max(-1, ...settled));
      // A head that is too long is a finding, with the empty numbers within it.
      const isTooLong = waiting.length > 3 || (waiting.length === 3 && settled.length === 0);
      const doubted = isTooLong ? [{ from: Math.min(...waiting), to: Math.max(...waiting) }] : [];
      const stateOf = (at: number): CellState => {
        const own = wanted.find((one) => one.at === at);
        if (!isIn([requested], at)) return 'out-of-range';
        if (own !== undefined && isIn(verified, at) && !isIn(doubted, at)) return 'verified';
        if (walked.includes(at)) return 'reading';
        if (own === undefined || !isNew(own) || heads > 3) return 'gap';
        // Nothing above confirms that a number is empty.
        const isAbove = wanted.some((other) => other.at > at && other.state !== 'empty');
        return own.state !== 'empty' || isAbove ? 'unverified' : 'gap';
      };
      // The first batch is 1.
      const [from, to] = [Math.max(1, window.from), Math.max(1, window.to)];
      const seen = clipped({ from, to }, requested.to);
      expectCoverage(await coverageOf(batches, seen, resolution), stateOf, resolution);
    }),
    { numRuns },
  );
});

test('a wrong time changes no other cell of a strip', async () => {
  await fillScene(database.pool, {
    verified: [],
    held: [],
    walked: [],
    lowestItem: null,
    reachedSince: null,
  });
  await database.query(`
    insert into explorer.user_operations (chain_id, hash, block_number, timestamp, page_id)
    select 10, at::text, at,
           case when at in (1, 20) then timestamptz '9999-12-31Z' when at = 9 then '1999-01-01Z'
                else timestamptz '2026-01-01Z' + make_interval(mins => at) end, 1
    from generate_series(1, 20) as at`);
  const times = await sampleTimes(database.db, [{ feed: list, from: 1, to: 20 }]);
  const heights = times.get(list)?.map(({ height }) => height);
  expect(heights).toEqual([2, 3, 4, 5, 6, 7, 8, ...Array.from({ length: 10 }, (_, at) => 10 + at)]);
});

/** The list whose lowest half is missing, with an item an hour. */
async function halfMissing() {
  await fillScene(database.pool, {
    verified: [{ from: 20, to: highest }],
    held: [],
    walked: [],
    lowestItem: null,
    reachedSince: 0,
  });
  await database.query(
    `insert into explorer.user_operations (chain_id, hash, block_number, timestamp, page_id)
     select 10, at::text, at, now() - make_interval(hours => $1::int - at), 1
     from generate_series(1, $1) as at`,
    [highest],
  );
}

test('a missing range is being read while a backfill runs, and is a gap once it fails', async () => {
  await halfMissing();
  const states = async () =>
    (await coverageOf(list, { from: 1, to: highest - 1 }, 1_000)).segments.map(
      ({ state }) => state,
    );
  expect(await states()).toEqual(['gap', 'verified']);
  await database.query('update etl.runs set failures_in_a_row = 0');
  expect(await states()).toEqual(['reading', 'verified']);
  await database.query(
    "insert into etl.lanes (feed, lane, stopped_at) select feed, lane, now() from etl.runs where state = 'open'",
  );
  expect(await states()).toEqual(['gap', 'verified']);
});

test('a gap has the times of the items beside it, the requests that it takes, and its command', async () => {
  await halfMissing();
  await database.query(
    'update etl.coverage set pages = 2, spanned_items = 80, spanned_blocks = 40',
  );
  const { gaps } = await coverageOf(list, { from: 1, to: highest - 1 }, 10);
  expect(gaps).toMatchObject([
    {
      from: 1,
      to: 19,
      from_at: '2025-12-31T00:00:00.000Z',
      to_at: expect.stringMatching(/^20/u),
      requests: 1,
    },
  ]);
  expect(gaps[0]?.command).toBe(
    'explorer-etl backfill --chain 10 --operation user-operations --from-block 1 --to-block 19',
  );
});

test('a strip shows coverage by time', async () => {
  await halfMissing();
  const { feeds, from, to, cells } = await readStrips(database.db, new Map());
  const hours = (Date.parse(to) - Date.parse(from)) / 3_600_000;
  expect([feeds.length, cells, Math.round(hours)]).toEqual([1, 90, highest - 1]);
  const counts = Map.groupBy(feeds[0]?.cells ?? [], (state) => state);
  // The lower half, and what is above the newest item and was never polled.
  expect(counts.get('gap')?.length).toBeGreaterThan(40);
  expect(counts.get('verified')?.length).toBeGreaterThan(40);
});

test('a strip calls no time verified after the last poll, although a command has read a range since', async () => {
  await halfMissing();
  await database.query(`
    update explorer.user_operations set timestamp = timestamp - interval '20 hours';
    update etl.feeds set last_success_at = now();
    -- As in any list: its highest block may be incomplete.
    update etl.coverage set verified = '{[20,40)}';
    insert into etl.runs (chain_id, operation, lane, scope, state, opened_at, closed_at)
    values (10, 'user-operations', 'live', '{}', 'finished', now() - interval '10 hours', now() - interval '10 hours'),
           (10, 'user-operations', 'backfill', '{"from_block": 1}', 'finished', now(), now())`);
  const { feeds, from, to } = await readStrips(database.db, new Map());
  const cells = feeds[0]?.cells ?? [];
  const hoursEach = (Date.parse(to) - Date.parse(from)) / 3_600_000 / cells.length;
  const at = (hoursAgo: number) => cells[Math.floor(cells.length - hoursAgo / hoursEach)];
  expect([at(15), at(5), at(1)]).toEqual(['verified', 'unknown', 'unknown']);
});

/** Each tenth block of the list is missing, so many of them. */
async function fillWithGaps(gaps: number): Promise<Range> {
  await fillScene(database.pool, {
    verified: [],
    held: [],
    walked: [],
    lowestItem: 1,
    reachedSince: null,
  });
  await database.query(
    `insert into etl.walks (chain_id, operation, lane, run_id, kind, scope, top, bottom, verified, state,
       reason, from_head)
     select 10, 'user-operations', 'backfill', 1, 'newest-first', '{"max_pages": 9}', $1::int * 10, 1,
            range_agg(int8range(at * 10 + 1, at * 10 + 9)), 'finished', 'floor', true
     from generate_series(0, $1::int - 1) as at`,
    [gaps],
  );
  await recountCoverage(database.db);
  return { from: 0, to: gaps * 10 - 1 };
}

test('a list with 20,000 gaps is drawn in few segments, and no gap is hidden', async () => {
  const window = await fillWithGaps(20_000);
  const { segments, gaps } = await coverageOf(list, window, 240);
  expect(segments.map(({ state, from, to }) => [state, from, to])).toEqual([['gap', 0, 199_999]]);
  expect(gaps.length).toBe(50);
});

test('coverage is read once for all cells, even with wrong statistics', async () => {
  const { url } = database;
  // What it guesses badly by: another state of these tables, as autovacuum meets it at any moment.
  await fillWithGaps(1);
  await database.query('analyze etl.feeds');
  const window = await fillWithGaps(1_000);
  const settings = { enable_hashjoin: 'off', enable_mergejoin: 'off' };
  const guessing = createPool({ url, max: 1, applicationName: 'test', settings });
  onTestFinished(() => guessing.end());
  const sent: { query: string; params: unknown[] }[] = [];
  const logger = { logQuery: (query: string, params: unknown[]) => sent.push({ query, params }) };
  await readCoverage(drizzle(guessing, { logger }), { feed: list, ...window, cells: 240 });
  for (const { query, params } of sent) {
    const { rows } = await guessing.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
      `explain (analyze, format json) ${query}`,
      params,
    );
    const scans = rows
      .flatMap((row) => nodesOf(row['QUERY PLAN'][0].Plan))
      .filter((node) => node['CTE Name'] === 'parts');
    expect(Math.max(0, ...scans.map((node) => node['Actual Loops']))).toBeLessThan(20);
  }
});

// Status asks feed by feed: with 50 feeds it took 20 seconds, as each asked for the gaps of all.
test('the gaps of a feed are found without the coverage of another', async () => {
  await fillWithGaps(3);
  await database.query(`
    insert into etl.feeds (chain_id, operation, kind, settings)
    values (999, 'user-operations', 'newest-first', '{}')`);
  onTestFinished(async () => {
    await database.query('delete from etl.feeds where chain_id = 999');
  });
  const rows = await database.query(`
    explain (analyze, format json) select from etl.feed_gaps where feed = '10/user-operations'`);
  const read = nodesOf(rows[0]?.['QUERY PLAN'][0].Plan)
    .filter((node) => node['Relation Name'] === 'feeds')
    .map((node) => node['Actual Rows']);
  expect(read).toEqual([1]);
});

interface PlanNode {
  readonly 'CTE Name'?: string;
  readonly 'Relation Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly Plans?: readonly PlanNode[];
}

const nodesOf = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)];
