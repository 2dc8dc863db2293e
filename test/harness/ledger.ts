import type { Pool } from 'pg';

/**
 * Each must find nothing, whatever happened to the processes that wrote. Rows of user operations are taken
 * out first: they may be spread over servers.
 */
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
    with operations as materialized (select page_id from explorer.user_operations)
    select page_id from (
      select page_id from operations
      union all select page_id from explorer.blocks
      union all select page_id from explorer.factories
      union all select page_id from explorer.bundlers
      union all select page_id from explorer.paymasters
      union all select page_id from explorer.addresses
      union all select page_id from explorer.read_batches
      union all select page_id from explorer.listed_batches
    ) as held
    where page_id is not null and page_id not in (select id from etl.pages)`,
  'a row names an address that has no row': `
    with operations as materialized (
      select chain_id, address_hash, entry_point_hash from explorer.user_operations
    )
    select chain_id, hash from (
      select chain_id, address_hash as hash from operations
      union select chain_id, entry_point_hash from operations
      union select chain_id, miner_hash from explorer.blocks
      union select chain_id, address_hash from explorer.factories
      union select chain_id, address_hash from explorer.bundlers
      union select chain_id, address_hash from explorer.paymasters
    ) as named
    where hash is not null and (chain_id, hash) not in (select chain_id, hash from explorer.addresses)`,
  'a feed has inserted more or fewer rows than its table holds': `
    with operations as materialized (select chain_id from explorer.user_operations)
    select * from (
      select chain_id, operation, sum(inserted) as inserted,
             (select count(*) from operations t where t.chain_id = w.chain_id) as operations,
             (select count(*) from explorer.blocks t where t.chain_id = w.chain_id) as blocks,
             (select count(*) from explorer.factories t where t.chain_id = w.chain_id) as factories,
             (select count(*) from explorer.bundlers t where t.chain_id = w.chain_id) as bundlers,
             (select count(*) from explorer.paymasters t where t.chain_id = w.chain_id) as paymasters,
             (select count(*) from explorer.listed_batches t where t.chain_id = w.chain_id) as listed
      from etl.walks w
      group by chain_id, operation
    ) as held
    where inserted <> case operation when 'user-operations' then operations
                                     when 'factories' then factories
                                     when 'bundlers' then bundlers
                                     when 'paymasters' then paymasters
                                     when 'optimism-batches' then listed
                                     else blocks end`,
} as const;

/** Each must find nothing when every feed has come to its end. */
const loose = {
  'a walk is not finished': `select * from etl.walks where state <> 'finished'`,
  'a run is not finished': `select * from etl.runs where state <> 'finished'`,
  'a feed is not at rest': `select * from etl.feeds where state <> 'idle'`,
} as const;

/** How many rows are shown of what was found. */
const shown = 3;

/**
 * Looks for traces of half-done work in the ledger and the tables. Empty when there are none.
 *
 * @param ended whether every feed is said to have come to its end
 */
export async function ledgerFaults(
  pool: Pool,
  ended: 'ended' | 'under-way',
): Promise<Record<string, unknown[]>> {
  const found: Record<string, unknown[]> = {};
  const checks = ended === 'ended' ? { ...faults, ...loose } : faults;
  for (const [fault, query] of Object.entries(checks)) {
    const { rows } = await pool.query(query);
    if (rows.length > 0) found[fault] = rows.slice(0, shown);
  }
  return found;
}
