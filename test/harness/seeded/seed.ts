import { drizzle } from 'drizzle-orm/node-postgres';
import type { Pool } from 'pg';
import type { ChainSettings } from '../../../src/config/settings.ts';
import type { Target } from '../../../src/lists/list.ts';
import type { OperationName } from '../../../src/lists/registry.ts';
import { registerFeeds } from '../../../src/sync/feeds.ts';
import { configuredFeeds, configuredLanes } from '../../../src/sync/targets.ts';
import { growBatches } from './batches.ts';
import { type Lanes, Ledger } from './ledger.ts';
import { growBatchList, growFactories, growOperations } from './lists.ts';
import type { SeededSize } from './size.ts';

/**
 * Fills a migrated, empty database as a year of polls would leave it: rows, runs,
 * walks with what they verify, and the ledger of pages. Takes part in no transaction; ends analysed.
 */
export async function grow(
  pool: Pool,
  size: SeededSize,
  chains: readonly ChainSettings[],
): Promise<void> {
  await registerFeeds(drizzle(pool), configuredFeeds(chains), 'file', {
    origin: 'http://seeded',
    isSameData: true,
  });
  // Each walk would count itself into one row, in one transaction: quadratic.
  await pool.query('alter table etl.walks disable trigger user');
  const indexes = await dropIndexes(pool, 'explorer.user_operations');
  const ledger = new Ledger(size);
  for (const chain of size.chains) {
    const lanes = configuredLanes(chains.filter(({ id }) => id === chain.id));
    const of = (operation: OperationName) => lanesOf(lanes, operation);
    growOperations(ledger, chain, of('user-operations'));
    if (chain.batches !== null) {
      growBatchList(ledger, chain, chain.batches, of('optimism-batches'));
      growBatches(ledger, chain, chain.batches, of('optimism-batch-blocks'));
    }
    growFactories(ledger, chain, of('factories'));
  }
  const { statements, run, walk, page } = ledger;
  for (const statement of [
    ...statements,
    ...indexes,
    'alter table etl.walks enable trigger user',
    totals,
    "select etl.recount_batches('%')",
    lateArrivals(size),
    `update etl.feeds set last_success_at = now()`,
    `select setval('etl.runs_id_seq', ${run}), setval('etl.walks_id_seq', ${walk}),
            setval('etl.pages_id_seq', ${page})`,
    'vacuum analyze',
  ]) {
    await pool.query(statement);
  }
}

function lanesOf(lanes: readonly Target[], operation: OperationName): Lanes {
  const [first, second] = lanes.filter(({ lane }) => lane.operation === operation);
  if (first === undefined) throw new Error(`${operation} is not configured`);
  // A ranking has one lane.
  const { live = first, backfill = first } = Object.fromEntries(
    [first, second ?? first].map((target) => [target.lane.lane, target]),
  );
  return { live, backfill };
}

/**
 * Millions of rows go in a third of the time where the indexes are made afterwards.
 *
 * @returns the statements that make them
 */
async function dropIndexes(pool: Pool, table: string): Promise<string[]> {
  const { rows } = await pool.query<{ name: string; definition: string; is_key: boolean }>(
    `select indexrelid::regclass::text as name, indisprimary as is_key,
            coalesce(
              'alter table ' || indrelid::regclass || ' add constraint "' || conname || '" '
                || pg_get_constraintdef(pg_constraint.oid),
              pg_get_indexdef(indexrelid)
            ) as definition
     from pg_index
     left join pg_constraint on conindid = indexrelid
     where indrelid = $1::regclass`,
    [table],
  );
  for (const { name, is_key } of rows) {
    if (!is_key) await pool.query(`drop index ${name}`);
    else await pool.query(`alter table ${table} drop constraint "${name.split('.').at(-1)}"`);
  }
  return rows.map(({ definition }) => definition);
}

/** What the commits of all pages would have left. */
const totals = `
  insert into etl.coverage (
    feed, lane, verified, verified_at, pages, inserted, credits, spanned_items, spanned_blocks, last_page_at
  )
  select feed, lane, range_agg(verified), max(updated_at), sum(pages), sum(inserted), sum(credits),
         coalesce(sum(items) filter (where top > bottom), 0),
         coalesce(sum(top - bottom) filter (where top > bottom), 0), max(updated_at)
  from etl.walks
  group by feed, lane`;

/** One in ten thousand operations came behind the head. */
const lateArrivals = ({ chains }: SeededSize) => `
  insert into etl.late_arrivals (chain_id, operation, key, height, timestamp, seen_at, page_id)
  select chain_id, 'user-operations', hash, block_number, timestamp, first_seen_at, page_id
  from explorer.user_operations
  where block_number % 10000 = 0 and chain_id in (${chains.map(({ id }) => id).join(', ')})`;

/** The size of each seeded table, for people. */
export async function tableSizes(
  pool: Pool,
): Promise<readonly { readonly table: string; readonly rows: number; readonly bytes: number }[]> {
  const { rows } = await pool.query<{ table: string; rows: number; bytes: string }>(
    `select oid::regclass::text as table, reltuples as rows, pg_total_relation_size(oid) as bytes
     from pg_class
     where relkind = 'r' and relnamespace in ('etl'::regnamespace, 'explorer'::regnamespace)
       and reltuples > 0
     order by pg_total_relation_size(oid) desc`,
  );
  return rows.map((row) => ({ ...row, bytes: Number(row.bytes) }));
}
