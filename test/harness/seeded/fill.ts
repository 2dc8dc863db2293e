import { drizzle } from 'drizzle-orm/node-postgres';
import type { Pool } from 'pg';
import { tableName } from '../../../src/db/column-types.ts';
import { feedName } from '../../../src/lists/feed.ts';
import { operations as kinds } from '../../../src/lists/registry.ts';
import type { Lane } from '../../../src/lists/tables.ts';
import { recountCoverage } from '../../../src/status/verify.ts';
import { configuredFeeds, configuredLanes, registerFeeds } from '../../../src/sync/feeds.ts';
import {
  addressesOf,
  batchBlocks,
  blocksAgo,
  type Columns,
  pageItems,
  pollBlocks,
  type SeededList,
  seededLists,
  seededSettings,
  type Size,
} from './lists.ts';

/** Walks that ended, each with its items from `top` down to `bottom`; as SQL over a walk's number `n`. */
interface Walks {
  readonly count: number;
  /** Which numbers are there; one that is missing leaves a gap. */
  readonly where?: string;
  readonly at: string;
  readonly top: string | number;
  /** Above the top if the walk met nothing. */
  readonly bottom: string | number;
  /** Columns beside the usual. */
  readonly columns?: Columns;
}

/** Walks with a run for each, or with one for all of a history. */
function walksOf(list: SeededList, lane: Lane, walks: Walks): string[] {
  const { count, where = 'true', at, top, bottom } = walks;
  const { operation } = list;
  const { kind } = kinds[operation];
  const runs = lane === 'live' || kind === 'ranked' ? count : 1;
  const columns = { scope: `'{}'::jsonb`, inserted: 'items', ...walks.columns };
  const own = `10, '${operation}', '${lane}', 'finished'`;
  return [
    `insert into etl.runs (chain_id, operation, lane, state, scope, opened_at, closed_at)
     select ${own}, '{}', ${at}, ${at} + interval '1 second'
     from generate_series(1, ${runs}) as n`,
    `insert into etl.walks (
       chain_id, operation, lane, state, kind, run_id, revision, started_at, as_of, updated_at, finished_at,
       top, bottom, pages, items, ${Object.keys(columns).join(', ')}
     )
     select ${own}, '${kind}', run.id, 2, ${at}, ${at}, ${at} + interval '1 second', ${at} + interval '1 second',
            case when items > 0 then top end, case when items > 0 then bottom end,
            greatest(1, ceil(items / ${pageItems}::numeric)), items, ${Object.values(columns).join(', ')}
     from generate_series(1::bigint, ${count}) as n
     join (
       select id, row_number() over (order by id) as number
       from etl.runs
       where operation = '${operation}' and lane = '${lane}'
     ) as run on number = least(n, ${runs}),
     lateral (select ${top} as top, ${bottom} as bottom) as walk,
     lateral (select top - bottom + 1 as items) as met
     where ${where}
     order by n`,
  ];
}

/** The pages of all walks of a list, and the items that were new on each. */
function pagesOf(list: SeededList, isByBatch = false): string[] {
  const { operation, table, cursor, key, fields, stored } = list;
  const columns = { ...fields, ...stored };
  return [
    `insert into etl.pages (
       walk_id, feed, sequence, cursor_in, cursor_out, items, rows, inserted, top, bottom, last_key, heights,
       repeats, quarantined, changed, bytes, body_hash, attempts, latency_ms, credits, fetched_at
     )
     select walk.id, feed, s, case when s > 0 then ${cursor('high')} end,
            case when low > ${isByBatch ? 'bottom' : 1} then ${cursor('low - 1')} end,
            met, met, met, high, low, ${isByBatch ? 'null' : key('low')},
            ${isByBatch ? 'case when met > 0 then int8multirange(int8range(low, high + 1)) end' : 'null'},
            0, 0, 0, 20000, md5(walk.id || ' ' || s), 1, 80, 20, started_at + s * interval '200 ms'
     from etl.walks as walk, generate_series(0, pages - 1) as s,
          lateral (select top - s * ${pageItems} as high) as highest,
          lateral (select greatest(bottom, high - ${pageItems - 1}) as low) as lowest,
          lateral (select coalesce(high - low + 1, 0) as met) as own
     where operation = '${operation}'
     order by walk.id, s`,
    `insert into ${tableName(table)} (
       chain_id, ${Object.keys(columns).join(', ')}, first_seen_at, updated_at, page_id
     )
     select chain_id, ${Object.values(columns).join(', ')}, fetched_at, fetched_at, page.id
     from etl.pages as page
     join etl.walks as walk on walk.id = walk_id,
     generate_series(greatest(page.bottom, walk.top - walk.inserted + 1), page.top) as n
     where operation = '${operation}'`,
  ];
}

/** How a list was followed: read back to its beginning once, from item `base`, and polled since; as SQL. */
function following(size: Size, top: number, polls: number, perPoll: number) {
  const base = top - Math.floor(polls * perPoll);
  const newestAt = (poll: string) => `(${base} + floor((${poll}) * ${perPoll}::numeric)::bigint)`;
  return {
    base,
    polls,
    begun: blocksAgo(size, String((polls + 1) * pollBlocks)),
    /** When poll `n` was, and the newest items then and at the poll before. */
    at: blocksAgo(size, `(${polls} - n) * ${pollBlocks}`),
    newest: newestAt('n'),
    before: newestAt('n - 1'),
  };
}
type Followed = ReturnType<typeof following>;

/** A newest-first list: a walk to its end, then polls of so many pages, below the top of before. */
function newestFirst(
  list: SeededList,
  { base, polls, begun, at, newest }: Followed,
  { pages, overlap, where }: { pages: number; overlap: number; where: string },
): string[] {
  const before = `lag(top, 1, ${base}::bigint) over (order by n)`;
  const bottom = `${newest} - ${pages * pageItems - 1}`;
  const whole = { verified: 'int8multirange(int8range(0, top))' };
  const columns = {
    reason: `'floor'`,
    cursor: list.cursor('bottom - 1'),
    floor: `${before} - 1 - ${overlap}`,
    // Every tenth goes as deep as a short rule.
    depth_ms: 'case when n % 10 = 0 then 300000 else 30000 end',
    verified: 'int8multirange(int8range(bottom + 1, top))',
    range_top: 'top',
    inserted: `top - greatest(${before}, bottom - 1)`,
  };
  return [
    ...walksOf(list, 'backfill', { count: 1, at: begun, top: base, bottom: 1, columns: whole }),
    ...walksOf(list, 'live', { count: polls, where, at, top: newest, bottom, columns }),
    ...pagesOf(list),
  ];
}

/** The blocks of batches: each poll finds the batch above the newest, or nothing there. */
function blocksOfBatches(list: SeededList, followed: Followed): string[] {
  const { base, polls, begun, at, newest, before } = followed;
  const next = `(${before} + 1)`;
  const found = `case when ${newest} = ${next} then ${before} else ${next} end`;
  return [
    ...walksOf(list, 'backfill', {
      count: base,
      where: `n <> ${Math.ceil(base / 2)}`,
      at: `(${begun} + n * interval '1 second')`,
      top: `n * ${batchBlocks}`,
      bottom: `(n - 1) * ${batchBlocks} + 1`,
      columns: { scope: `jsonb_build_object('batch', n)` },
    }),
    ...walksOf(list, 'live', {
      count: polls,
      at,
      top: `${next} * ${batchBlocks}`,
      bottom: `${found} * ${batchBlocks} + 1`,
      columns: { scope: `jsonb_build_object('batch', ${next}, 'probe', true)` },
    }),
    ...pagesOf(list, true),
    'reindex table explorer.blocks',
    `update etl.runs set latest_batch_before = batch - 1
     from etl.walks
     where run_id = runs.id and runs.lane = 'live' and batch is not null`,
    `insert into etl.batch_observations (
       chain_id, operation, batch_number, top, bottom, parent_hash, times_seen, walk_id, run_id
     )
     select walk.chain_id, operation, batch, top, bottom, parent_hash, 1, id, run_id
     from etl.walks as walk join explorer.blocks on height = bottom
     where batch is not null`,
    // The newest batch may still grow.
    `insert into explorer.read_batches (
       chain_id, batch_number, state, blocks_count, first_height, last_height, is_contiguous,
       is_linked, is_verified, walked_at, first_seen_at, updated_at, page_id
     )
     select walk.chain_id, batch, case when is_last then 'open' else 'settled' end, walk.items, walk.bottom,
            walk.top, true, true, not is_last, updated_at, updated_at, updated_at, page.id
     from etl.walks as walk
     join etl.pages as page on walk_id = walk.id and page.bottom = walk.bottom,
     lateral (select walk.top = ${list.top} as is_last) as newest
     where batch is not null`,
    `update etl.feeds set latest_batch = ${list.top / batchBlocks}, target_numbers = '{[1,)}'
     where operation = '${list.operation}'`,
  ];
}

/** Factories by rank, with every ranking that was published; each gives some of them accounts. */
function rankings(list: SeededList, size: Size, count: number): string[] {
  // One for each 60 polls.
  const at = blocksAgo(size, `(${count} - n) * ${60 * pollBlocks}`);
  const columns = { inserted: 'case when n = 1 then items else 0 end' };
  return [
    ...walksOf(list, 'backfill', { count, at, top: list.top, bottom: 1, columns }),
    ...pagesOf(list),
    `insert into etl.rankings (walk_id, feed, as_of, published_at, items, walks, still_moving)
     select id, feed, started_at, finished_at, items, 1, false
     from etl.walks where operation = 'factories'`,
    `insert into explorer.factory_history (
       chain_id, address_hash, observed_at, total_accounts, first_seen_at, updated_at, page_id
     )
     select walk.chain_id, address_hash, started_at, total_accounts, started_at, started_at, page.id
     from etl.walks as walk
     join etl.pages as page on walk_id = walk.id and sequence = 0
     join explorer.factories on rank % 20 = walk.id % 20
     where walk.operation = 'factories'`,
    // Totals are no heights.
    ...['walks', 'pages'].map(
      (table) => `update etl.${table} set top = null, bottom = null where feed = '10/factories'`,
    ),
  ];
}

function statementsOf(size: Size): string[] {
  const { operations, batches, blocks, factories } = seededLists(size);
  const polls = Math.ceil(size.operations * 0.006);
  const ofOperations = following(size, operations.top, polls, pollBlocks);
  const ofBatches = following(size, batches.top, batches.top, pollBlocks / batchBlocks);
  const middle = Math.ceil(polls / 2);
  const twoMissing = `n not in (${middle}, ${middle + 10})`;
  return [
    // Millions of rows go in a third of the time if the indexes are made afterwards.
    `update pg_index set indisready = false
     where indrelid in ('explorer.user_operations'::regclass, 'explorer.blocks'::regclass)`,
    ...newestFirst(operations, ofOperations, { pages: 2, overlap: 15, where: twoMissing }),
    'reindex table explorer.user_operations',
    ...newestFirst(batches, ofBatches, { pages: 1, overlap: 6, where: 'true' }),
    ...blocksOfBatches(blocks, ofBatches),
    ...rankings(factories, size, Math.max(3, Math.round(size.operations / 14_000))),
    // The oldest operations have each address once.
    `insert into explorer.addresses (
       chain_id, hash, name, is_contract, reputation, first_seen_at, updated_at, page_id
     )
     select chain_id, address_hash, 'name ' || block_number, block_number % 2 = 0, 'ok', first_seen_at,
            updated_at, page_id
     from explorer.user_operations where block_number <= ${addressesOf(size)}
     union all
     select chain_id, address_hash, null, null, null, first_seen_at, updated_at, page_id
     from explorer.factories`,
    // Some operations came behind the head.
    `insert into etl.late_arrivals (chain_id, operation, key, height, timestamp, seen_at, page_id)
     select chain_id, 'user-operations', hash, block_number, timestamp, first_seen_at, page_id
     from explorer.user_operations where block_number % 10000 = 0`,
  ];
}

/** Tables whose triggers count each row. */
const counted = ['etl.walks', 'explorer.blocks', 'explorer.read_batches'];

/**
 * Fills a migrated, empty database as a year of polls would leave it: rows, runs,
 * walks with what they verify, and the ledger of pages. Takes part in no transaction; ends analysed.
 */
export async function grow(pool: Pool, size: Size): Promise<void> {
  const db = drizzle(pool);
  const { chains } = seededSettings('http://seeded');
  const source = { origin: 'http://seeded', isSameData: true };
  await registerFeeds(db, configuredFeeds(chains), 'file', source);
  for (const statement of [
    // Each walk would count itself into one row, in one transaction: quadratic. Batches are counted at the end.
    ...counted.map((table) => `alter table ${table} disable trigger user`),
    ...statementsOf(size),
    ...configuredLanes(chains).map(
      ({ lane, scope }) =>
        `update etl.runs set scope = '${JSON.stringify(scope)}'
         where feed = '${feedName(lane)}' and lane = '${lane.lane}'`,
    ),
    'update etl.feeds set last_success_at = now()',
    ...counted.map((table) => `alter table ${table} enable trigger user`),
  ]) {
    await pool.query(statement);
  }
  await recountCoverage(db);
  await pool.query('vacuum analyze');
}
