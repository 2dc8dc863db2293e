import type { PgTable } from 'drizzle-orm/pg-core';
import { digestOf, tableName } from '../../src/db/digest.ts';

/** Rows of a table as the program would have written them: columns as SQL over a number `n`. */
export interface Filling {
  readonly table: PgTable;
  readonly chain: number;
  readonly count: number;
  readonly columns: Readonly<Record<string, string>>;
  /** When each was stored, and by which page. */
  readonly stored: { readonly at: string; readonly page: string };
  /** What of the numbers is left out, if anything. */
  readonly but?: string;
}

/** The statement that writes rows with valid digests; the ledger of rows is `countRows`. */
export function fill({ table, chain, count, columns, stored, but = 'false' }: Filling): string {
  const told: Readonly<Record<string, string>> = {
    chain_id: `${chain}::bigint`,
    ...columns,
    first_seen_at: stored.at,
    updated_at: stored.at,
    page_id: `(${stored.page})::bigint`,
  };
  const names = Object.keys(told);
  const digest = digestOf(table, (column) => (column in told ? `"${column}"` : 'null::text'));
  return `
    insert into ${tableName(table)} (${names.join(', ')}, digest)
    select *, ${digest}
    from (
      select ${names.map((name) => `${told[name]} as ${name}`).join(', ')}
      from generate_series(1, ${count}) as n
      where not (${but})
    ) as row`;
}

/** What the ledger of rows has of a table: an entry for each moment, as one transaction leaves it. */
export const countRows = (table: PgTable) => `
  insert into etl.row_counts
  select chain_id, '${tableName(table)}', first_seen_at, count(*), sum(digest), min(page_id), max(page_id),
         min(page_id), max(page_id)
  from ${tableName(table)}
  group by chain_id, first_seen_at`;
