import { createHash } from 'node:crypto';
import type { PgTable } from 'drizzle-orm/pg-core';
import { tableName } from '../../../src/db/column-types.ts';
import type { SeededSize } from './size.ts';

/*
 * Hashes and times of the seeded rows, twice: as SQL, which writes millions, and as text, which an
 * explorer serves. Both must say the same.
 */

/** What hashes are of; with the chain and a number it tells one from all others. */
export type Thing = 'operation' | 'transaction' | 'address' | 'block' | 'factory';

export const hashSql = (thing: Thing, chain: number, number: string, digits = 64) =>
  `'0x' || left(encode(sha256(('${thing} ${chain} ' || (${number})::bigint)::bytea), 'hex'), ${digits})`;

export const hashText = (thing: Thing, chain: number, number: number, digits = 64) =>
  `0x${createHash('sha256').update(`${thing} ${chain} ${number}`).digest('hex').slice(0, digits)}`;

/** Digits of an address. */
export const short = 40;

/** A moment so long before the newest item, as SQL. */
export const beforeNow = ({ nowMs }: SeededSize, ms: string) =>
  `(timestamptz '${new Date(nowMs).toISOString()}' - (${ms}) * interval '1 millisecond')`;

/** The time of block `height` of a chain whose newest is `top`, as SQL. */
export const blockTime = (size: SeededSize, top: number, height: string) =>
  beforeNow(size, `(${top} - (${height})) * ${size.blockMs}::bigint`);

/** Rows of a table as the program would have written them: columns as SQL over a number `n`. */
interface Filling {
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
  const expressions: Readonly<Record<string, string>> = {
    chain_id: `${chain}::bigint`,
    ...columns,
    first_seen_at: stored.at,
    updated_at: stored.at,
    page_id: `(${stored.page})::bigint`,
  };
  const names = Object.keys(expressions);
  return `
    insert into ${tableName(table)} (${names.join(', ')})
    select ${names.map((name) => expressions[name]).join(', ')}
    from generate_series(1, ${count}) as n
    where not (${but})`;
}
