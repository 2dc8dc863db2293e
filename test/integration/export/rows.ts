import type { OpenDatabase } from '../../harness/database.ts';
import type { DuckRow } from './duckdb.ts';

/** Times and doubles in one format. */
const plainText = (text: string) =>
  text
    .replace(/^(\d{4}-\d\d-\d\d)[T ](\d\d:[\d:.]+)(?:\+00(?::00)?|Z)$/u, '$1 $2')
    .replace(/^(-?\d+)\.0$/u, '$1');

/** Of the ledger; formatted again by Postgres; or in a unit that only files have. */
const notCompared = /page_id$|^(?:day|extra|native_symbol)$|_native(?:_text)?$/u;

/** Rows in one order, of what both sides have; of a number's columns the exact text counts. */
export const plain = (rows: readonly DuckRow[]) =>
  rows
    .map((row) =>
      Object.entries(row)
        .map(([name, value]) => [name, row[`${name}_text`] ?? value] as const)
        .filter(([name, value]) => value !== null && !notCompared.test(name))
        .filter(
          ([name]) =>
            !/_(?:text|decimal|double)$/u.test(name) ||
            !Object.hasOwn(row, name.replace(/_[a-z]+$/u, '')),
        )
        .map(([name, value]) => `${name}: ${plainText(String(value))}`)
        .toSorted()
        .join(', '),
    )
    .toSorted();

/** The rows of a table or view of schema `explorer`. */
export async function storedRows({ pool }: OpenDatabase, name: string) {
  const { rows } = await pool.query<{ row: DuckRow }>(`
    select (select jsonb_object_agg(key, value) from jsonb_each_text(to_jsonb(r))) as row
    from explorer.${name} as r`);
  return plain(rows.map(({ row }) => row));
}
