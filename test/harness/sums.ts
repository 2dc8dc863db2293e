import { drizzle } from 'drizzle-orm/node-postgres';
import type { Pool } from 'pg';
import { rollUp, recomputeSums } from '../../src/rollups/roll.ts';
import { foundBy } from './ledger.ts';

/** The views that are summed up beforehand, each by what it says it is. */
const meanings = {
  operations_daily: `
    select chain_id, (timestamp at time zone 'UTC')::date as day, entry_point_version,
           count(*) as operations, count(*) filter (where status = false) as failed,
           count(distinct address_hash) as senders, sum(fee_native) as fee_native, min(native_symbol) as native_symbol
    from explorer.operations_enriched
    where timestamp is not null
    group by 1, 2, 3`,
  senders: `
    select op.chain_id, op.address_hash, max(coalesce(name, ens_domain_name)) as name,
           min(timestamp), max(timestamp), count(*), count(*) filter (where status = false),
           sum(fee_native), min(native_symbol)
    from explorer.operations_enriched as op
    left join explorer.addresses on addresses.chain_id = op.chain_id and addresses.hash = op.address_hash
    where op.address_hash is not null
    group by 1, 2`,
  chain_daily: `
    select chain_id, (timestamp at time zone 'UTC')::date, count(*), sum(transactions_count), sum(gas_used),
           (100 * sum(gas_used) / nullif(sum(gas_limit), 0))::float8, sum(burnt_fees) * 1e-18,
           sum(transaction_fees) * 1e-18, min(native_symbol)
    from explorer.blocks
    left join explorer.chains using (chain_id)
    where timestamp is not null
    group by 1, 2`,
  batch_stats: `
    select blocks.chain_id, optimism_batch_number, min(timestamp), max(timestamp), count(*),
           extract(epoch from max(timestamp) - min(timestamp))::float8 / nullif(count(*) - 1, 0),
           sum(blocks.transactions_count), sum(size), sum(gas_used),
           (100 * sum(gas_used) / nullif(sum(gas_limit), 0))::float8, sum(burnt_fees) * 1e-18,
           sum(transaction_fees) * 1e-18, min(native_symbol), max(l1_timestamp), max(l1_timestamp) - max(timestamp)
    from explorer.blocks
    left join explorer.chains on chains.chain_id = blocks.chain_id
    left join explorer.listed_batches as listed
      on listed.chain_id = blocks.chain_id and listed.batch_number = optimism_batch_number
    where optimism_batch_number is not null
    group by 1, 2`,
} as const;

/** What is summed up beforehand and is not what the rows come to. Empty when there is nothing. */
export const sumFaults = (pool: Pool) =>
  foundBy(
    pool,
    Object.fromEntries(
      Object.entries(meanings).map(([view, meaning]) => [
        view,
        `with meant as (${meaning}), summed as (select * from explorer.${view})
         select 'the view alone' as has, t::text as row from (table summed except all table meant) as t
         union all
         select 'the rows alone', t::text from (table meant except all table summed) as t`,
      ]),
    ),
  );

/** How many rows each of them has. */
export async function sumRows(pool: Pool): Promise<Record<string, number>> {
  const { rows } = await pool.query<{ rows: Record<string, number> }>(
    `select json_build_object(${Object.keys(meanings)
      .map((view) => `'${view}', (select count(*) from explorer.${view})`)
      .join(', ')}) as rows`,
  );
  return rows[0]?.rows ?? {};
}

/** Brings them up to what was written since, as `sync` does at its end. */
export async function sumUp(pool: Pool): Promise<number> {
  const options = { db: drizzle(pool), now: () => performance.now() };
  return rollUp(options, new AbortController().signal);
}

/** Makes them from nothing, where rows were changed by hand. */
export async function sumUpAnew(pool: Pool): Promise<void> {
  await recomputeSums(drizzle(pool));
  await sumUp(pool);
}
