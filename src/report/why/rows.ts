import { sql } from 'drizzle-orm';
import { getTableConfig, type PgColumn, type PgTable } from 'drizzle-orm/pg-core';
import type { Database } from '../../db/transaction.ts';
import type { FoundRow, FoundRows, Term } from '../../page/why/facts.ts';
import { placesOf, type Place } from './places.ts';

/** Rows that are shown of one table: of an address, a batch or a block there may be thousands. */
const mostRows = 3;
/** Characters that are read of a value. */
const longestField = 300;

/** Columns that are the program's own: they are told in sentences. */
const own = ['first_seen_at', 'updated_at', 'page_id'];

/** The rows that have it, of these chains, a few of each table, and where it was looked for. */
export async function findRows(
  db: Database,
  term: Term,
  chains: readonly number[],
): Promise<{ readonly found: readonly FoundRows[]; readonly lookedAt: readonly string[] }> {
  const places = placesOf(term);
  const found: FoundRows[] = [];
  const lookedAt = places.map(({ name, column }) => `${name}.${column}`);
  if (chains.length === 0) return { found, lookedAt };
  // One after the other: a statement over all of them is planned anew each time, and the page has one connection.
  for (const place of places) {
    const rows = await rowsAt(db, place, term, chains);
    if (rows.length === 0) continue;
    const { name: table, column } = place;
    found.push({ table, column, rows: rows.slice(0, mostRows), isCut: rows.length > mostRows });
  }
  return { found, lookedAt };
}

async function rowsAt(
  db: Database,
  { table, name, column, rest }: Place,
  { is, value }: Term,
  chains: readonly number[],
): Promise<FoundRow[]> {
  const from = sql.raw(name);
  const at = sql.raw(`t."${column}"`);
  const sought = is === 'number' ? sql`${value}::bigint` : sql`${value}::text`;
  // Each chain by itself, in the order of its key: the newest of a long history are its last.
  const order = sql.raw((rest ?? []).map(ordered).join(', '));
  const rows =
    rest === null || rest.length === 0
      ? sql`
          select * from ${from} as t
          where t.chain_id = any(${sql.param(chains)}::bigint[]) and ${at} = ${sought}
          limit ${mostRows + 1}`
      : sql.join(
          chains.map(
            (chain) => sql`
              (select * from ${from} as t where t.chain_id = ${chain}::bigint and ${at} = ${sought}
               order by ${order} limit ${mostRows + 1})`,
          ),
          sql` union all `,
        );
  const { rows: answer } = await db.execute<{ row: FoundRow }>(sql`
    select json_build_object(
      'table', ${name}::text, 'column', ${column}::text, 'key', ${keyOf(table, 't')},
      'chain_id', chain_id, 'first_seen_at', first_seen_at, 'updated_at', updated_at,
      'removed_at', ${removedAt(table)}, 'page_id', page_id,
      'fields', (
        select json_agg(json_build_array(field.key, left(field.value, ${longestField + 1})))
        from json_each_text(row_to_json(t)) as field
        where field.key <> all(${sql.param(own)}::text[])
      )
    ) as row
    from (${rows}) as t
    limit ${mostRows + 1}
  `);
  return answer.map(({ row }) => row);
}

/** As SQL: the primary key of a row as a JSON object. */
function keyOf(table: PgTable, alias: string) {
  const { primaryKeys } = getTableConfig(table);
  const columns = primaryKeys.flatMap((key) => key.columns.map(({ name }) => name));
  return sql.raw(
    `json_build_object(${columns.map((name) => `'${name}', ${alias}."${name}"`).join(', ')})`,
  );
}

const ordered = (column: PgColumn): string =>
  `t."${column.name}"${column.getSQLType().startsWith('timestamp') ? ' desc' : ''}`;

/** When a row has left its list, by whatever name: null where its table tells nothing of that kind. */
function removedAt(table: PgTable) {
  const names = getTableConfig(table).columns.map(({ name }) => name);
  const name = names.find((one) => one === 'removed_at' || one === 'missing_since');
  return sql.raw(name === undefined ? 'null::timestamptz' : `"${name}"`);
}
