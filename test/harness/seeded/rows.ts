import type { PgTable } from 'drizzle-orm/pg-core';
import { tableName } from '../../../src/db/column-types.ts';

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

/** The statement that writes the rows. */
export function fill({ table, chain, count, columns, stored, but = 'false' }: Filling): string {
  const told: Readonly<Record<string, string>> = {
    chain_id: `${chain}::bigint`,
    ...columns,
    first_seen_at: stored.at,
    updated_at: stored.at,
    page_id: `(${stored.page})::bigint`,
  };
  const names = Object.keys(told);
  return `
    insert into ${tableName(table)} (${names.join(', ')})
    select ${names.map((name) => told[name]).join(', ')}
    from generate_series(1, ${count}) as n
    where not (${but})`;
}
