import type { Pool } from 'pg';
import { onTestFinished } from 'vitest';
import { tableName } from '../../src/db/column-types.ts';
import type { Database } from '../../src/db/transaction.ts';
import { dataTables, operationNames, operations } from '../../src/lists/registry.ts';
import { rollUp } from '../../src/rollups/roll.ts';
import { type Finding, placesText } from '../../src/status/findings.ts';
import type { VerifiedFeed } from '../../src/status/verify.ts';

const lists = operationNames.map((name) => operations[name]);

/** Rows of several statements, each read by itself: the rows of a table may be spread over servers. */
const united = (statements: readonly string[]) => `
  with ${statements.map((statement, at) => `rows_${at} as materialized (${statement})`).join()}
  select * from (
    ${statements.map((_, at) => `select * from rows_${at}`).join(' union all ')}
  ) as united`;

/** Each must find nothing, whatever happened to the processes that wrote. */
const faults = {
  'a page drops items': `
    select * from etl.pages where items <> rows + repeats + quarantined`,
  'a cursor is used twice in a walk': `
    select walk_id, coalesce(cursor_in, '{}') as cursor, count(*) from etl.pages
    group by 1, 2 having count(*) > 1`,
  'a walk has a gap in its sequence': `
    select walk_id, min(sequence), max(sequence), count(*) from etl.pages
    group by 1 having min(sequence) <> 0 or max(sequence) + 1 <> count(*)`,
  'a page does not begin where the one before it ended': `
    select * from (
      select walk_id, sequence, cursor_in, from_head,
             lag(cursor_out) over (partition by walk_id order by sequence) as cursor_before
      from etl.pages join etl.walks on walks.id = walk_id
    ) as step
    where case when sequence = 0 then from_head <> (cursor_in is null)
               else cursor_in is distinct from cursor_before end`,
  'a walk counts other than its ledger': `
    select * from (
      select walks.id, walks.pages, walks.items, walks.inserted, walks.changed, walks.quarantined,
             walks.cursor, count(pages.id) as ledger_pages,
             coalesce(sum(pages.items), 0) as ledger_items,
             coalesce(sum(pages.inserted), 0) as ledger_inserted,
             coalesce(sum(pages.changed), 0) as ledger_changed,
             coalesce(sum(pages.quarantined), 0) as ledger_quarantined,
             (array_agg(pages.cursor_out order by sequence desc))[1] as ledger_cursor
      from etl.walks left join etl.pages on pages.walk_id = walks.id
      group by walks.id
    ) as sums
    where (pages, items, inserted, changed, quarantined)
            <> (ledger_pages, ledger_items, ledger_inserted, ledger_changed, ledger_quarantined)
       or cursor is distinct from ledger_cursor`,
  'coverage says something else than the ledger': `select * from etl.coverage_findings`,
  'a row names a page that is not in the ledger': `
    ${united(dataTables.map((table) => `select page_id from ${tableName(table)}`))}
    where page_id not in (select id from etl.pages)`,
  'a row names an address that has no row': `
    ${united(
      lists.flatMap(({ table, addressColumns }) =>
        addressColumns.map(
          (column) => `select distinct chain_id, ${column} as hash from ${tableName(table)}`,
        ),
      ),
    )}
    where hash is not null and (chain_id, hash) not in (select chain_id, hash from explorer.addresses)`,
  'a feed has inserted more or fewer rows than its table holds': `
    ${united(
      lists.map(
        ({ name, table }) =>
          `select chain_id, '${name}' as operation, count(*) as held from ${tableName(table)} group by chain_id`,
      ),
    )}
    full join (
      select chain_id, operation, sum(inserted) as inserted from etl.walks group by 1, 2
    ) as walked using (chain_id, operation)
    where coalesce(inserted, 0) <> coalesce(held, 0)`,
} as const;

/** Each must find nothing when every feed has come to its end. */
const loose = {
  'a walk is not finished': `select * from etl.walks where state <> 'finished'`,
  'a run is not finished': `select * from etl.runs where state <> 'finished'`,
  'a feed is not at rest': `select * from etl.feeds where reason is not null`,
} as const;

/** How many rows are shown of what was found. */
const shown = 3;

/** Rows of statements that must find none, by what is wrong if they do. Empty if all is well. */
export async function foundBy(
  pool: Pool,
  checks: Readonly<Record<string, string>>,
): Promise<Record<string, unknown[]>> {
  const found: Record<string, unknown[]> = {};
  for (const [fault, query] of Object.entries(checks)) {
    const { rows } = await pool.query(query);
    if (rows.length > 0) found[fault] = rows.slice(0, shown);
  }
  return found;
}

/**
 * Looks for traces of half-done work in the ledger and the tables.
 *
 * @param ended whether every feed is said to have come to its end
 */
export const ledgerFaults = (pool: Pool, ended: 'ended' | 'under-way') =>
  foundBy(pool, ended === 'ended' ? { ...faults, ...loose } : faults);

const timeOf = (which: 'min' | 'max') =>
  `case when count(timestamp) = count(*) then ${which}(timestamp) end`;

/** Each operation with its week or month, and the one in which its sender began. */
const byPeriod = (unit: 'week' | 'month') => `(
  select *, min(period) over (partition by chain_id, sender) as begun
  from explorer.operations_enriched,
       lateral (select date_trunc('${unit}', block_time at time zone 'UTC')::date as period) as own
) as op`;

const ofPeriod = (unit: 'week' | 'month') => `
  select chain_id, period, count(*), count(*) filter (where success = false), count(distinct sender),
         sum(fee_native), min(native_symbol),
         case when period is not null then count(distinct sender) filter (where begun = period) end
  from ${byPeriod(unit)}
  group by 1, 2`;

/** The views that are summed up beforehand, each by what it says it is. */
const meanings = {
  operations_weekly: ofPeriod('week'),
  operations_monthly: ofPeriod('month'),
  cohorts: `
    select chain_id, begun, period, count(distinct sender)
    from ${byPeriod('month')}
    where period is not null and sender is not null
    group by 1, 2, 3`,
  fees_daily: `
    select chain_id, (block_time at time zone 'UTC')::date, count(*),
           percentile_disc(0.1) within group (order by fee_native),
           percentile_disc(0.5) within group (order by fee_native),
           percentile_disc(0.9) within group (order by fee_native),
           percentile_disc(0.99) within group (order by fee_native), min(native_symbol)
    from explorer.operations_enriched
    where fee is not null
    group by 1, 2`,
  operations_daily: `
    select chain_id, (block_time at time zone 'UTC')::date as day, entry_point_version,
           count(*) as operations, count(*) filter (where success = false) as failed,
           count(distinct sender) as senders, sum(fee_native) as fee_native, min(native_symbol) as native_symbol
    from explorer.operations_enriched
    group by 1, 2, 3`,
  sender_kinds_daily: `
    select chain_id, (block_time at time zone 'UTC')::date, entry_point_version, sender_kind, count(*),
           count(*) filter (where success = false), count(distinct sender)
    from explorer.operations_enriched
    group by 1, 2, 3, 4`,
  senders: `
    select op.chain_id, op.sender, max(coalesce(name, ens_domain_name)) as name,
           min(block_time), max(block_time), count(*), count(*) filter (where success = false),
           sum(fee_native), min(native_symbol)
    from explorer.operations_enriched as op
    left join explorer.addresses on addresses.chain_id = op.chain_id and addresses.hash = op.sender
    where op.sender is not null
    group by 1, 2`,
  chain_daily: `
    select chain_id, (timestamp at time zone 'UTC')::date, count(*), sum(transactions_count), sum(gas_used),
           (100 * sum(gas_used) / nullif(sum(gas_limit), 0))::float8, sum(burnt_fees) * 1e-18,
           sum(transaction_fees) * 1e-18, min(native_symbol), min(timestamp), max(timestamp),
           round(least(
             100, count(*) * extract(epoch from max(timestamp) - min(timestamp))
                    / nullif(max(height) - min(height), 0) / 864
           ), 1)::float8
    from explorer.blocks
    left join explorer.chains using (chain_id)
    where timestamp is not null
    group by 1, 2`,
  batch_stats: `
    select blocks.chain_id, optimism_batch_number, ${timeOf('min')}, ${timeOf('max')}, count(*),
           extract(epoch from ${timeOf('max')} - ${timeOf('min')})::float8 / nullif(count(*) - 1, 0),
           sum(blocks.transactions_count), sum(size), sum(gas_used),
           (100 * sum(gas_used) / nullif(sum(gas_limit), 0))::float8, sum(burnt_fees) * 1e-18,
           sum(transaction_fees) * 1e-18, min(native_symbol), max(l1_timestamp), max(l1_timestamp) - ${timeOf('max')}
    from explorer.blocks
    left join explorer.chains on chains.chain_id = blocks.chain_id
    left join explorer.listed_batches as listed
      on listed.chain_id = blocks.chain_id and listed.batch_number = optimism_batch_number
      and listed.removed_at is null
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

/** Brings the sums up to what was written since, as `sync` does at its end. @returns how many keys changed */
export const sumUp = (db: Database, signal = new AbortController().signal): Promise<number> =>
  rollUp({ db, now: () => performance.now() }, signal);

/** A finding as one line, which begins with its place. */
export const findingText = ({ place, sentence }: Finding): string =>
  place === null ? sentence : `${placesText(place.unit, [place])}: ${sentence}`;

/** What is verified of a feed, with its findings as the sentences that people read. */
export const inWords = (feed: VerifiedFeed) => ({
  ...feed,
  head: feed.notes.filter(({ kind }) => kind === 'pending-head').map(findingText),
  open: feed.open.map(findingText),
  notes: feed.notes.filter(({ kind }) => kind !== 'pending-head').map(findingText),
});

/** Keeps pages from being committed until the returned function is called. */
export async function holdCommits({ pool }: { readonly pool: Pool }) {
  const gate = await pool.connect();
  onTestFinished(() => gate.release(true));
  await gate.query('begin');
  await gate.query('lock table etl.pages in share mode');
  return () => gate.query('commit');
}
