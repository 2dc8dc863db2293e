import type { Pool } from 'pg';
import { tableName } from '../../src/db/column-types.ts';
import { dataTables, operationNames, operations } from '../../src/lists/registry.ts';

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
  'a feed is not at rest': `select * from etl.feeds where state <> 'idle'`,
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
