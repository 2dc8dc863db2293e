import { sql } from 'drizzle-orm';
import { getTableConfig, type PgTable } from 'drizzle-orm/pg-core';
import { tableName } from '../db/column-types.ts';
import { execute, type Database } from '../db/transaction.ts';
import { parseBody } from '../explorer/response.ts';
import { dataTables } from '../lists/registry.ts';
import { createRedactor } from '../redact.ts';
import { unpackBody } from '../sync/archive.ts';
import { type TraceDocument, traceDocument } from './endpoints.ts';
import { z } from 'zod';

type Row = TraceDocument['rows'][number];
type Kind = 'hash' | 'address' | 'height';

/** The largest bigint. */
const largest = 2n ** 63n - 1n;
/** No stored value is longer, in characters. */
const longestTerm = 100;
const hint =
  'A hash is 0x and 64 hexadecimal digits, an address 0x and 40; a height or a batch number is a whole number.';

/** Accepts blanks around a term, upper case, and grouped digits; null: no term. */
export function readTerm(text: string): { readonly is: Kind; readonly value: string } | null {
  const term = text.trim().toLowerCase();
  if (term.length > longestTerm) return null;
  const hex = /^(?:0x)?([0-9a-f]{64}|[0-9a-f]{40})$/u.exec(term)?.[1];
  if (hex !== undefined) return { is: hex.length === 64 ? 'hash' : 'address', value: `0x${hex}` };
  const digits = /^(?:\d+|\d{1,3}(?:[,_ ]\d{3})+)$/u.test(term) ? term.replaceAll(/\D/gu, '') : '';
  if (digits === '' || BigInt(digits) > largest) return null;
  return { is: 'height', value: BigInt(digits).toString() };
}

/** Every stored row with a hash, an address or a height, and its source, through indexes only. */
export async function traceTerm(db: Database, term: string): Promise<TraceDocument> {
  const read = readTerm(term);
  if (read === null) return { term: term.slice(0, longestTerm), is: null, hint, rows: [] };
  const chains = await execute(db).values(z.string)`
    select distinct chain_id from etl.feeds order by chain_id
  `;
  const wei = await execute(db).values(z.string)`
    select concat('explorer.', table_name, '.', column_name) from explorer.dictionary where unit = 'wei'
  `;
  const sought = { ...read, chains, wei };
  const rows: Row[] = [];
  // One after the other: planning a statement over all tables takes longer than these.
  for (const place of placesOf(read.is)) rows.push(...(await rowsAt(db, place, sought)));
  return { term: read.value, is: read.is, hint: null, rows };
}

/** An indexed column to find rows by. */
interface ColumnRef {
  readonly table: PgTable;
  readonly column: string;
  /** The primary key after the chain and the column; null: another index has the column. */
  readonly keyColumns: readonly string[] | null;
}

/** Indexed columns of the term's type in all tables that pages write; unique ones first. */
function placesOf(is: Kind): readonly ColumnRef[] {
  const type = is === 'height' ? 'bigint' : 'text collate "C"';
  const partOf = ({ keyColumns }: ColumnRef) => keyColumns?.length ?? Number.MAX_SAFE_INTEGER;
  return dataTables
    .flatMap((table) => placesIn(table, type))
    .toSorted((one, other) => partOf(one) - partOf(other));
}

function placesIn(table: PgTable, type: string): ColumnRef[] {
  const { primaryKeys, indexes, columns } = getTableConfig(table);
  const typed = new Set(namesOf(columns.filter((column) => column.getSQLType() === type)));
  const places = new Map<string, ColumnRef>();
  const add = (names: readonly string[], isKey: boolean) => {
    const [column = '', ...others] = names.filter((name) => name !== 'chain_id');
    if (!typed.has(column) || places.has(column)) return;
    places.set(column, { table, column, keyColumns: isKey ? others : null });
  };
  for (const key of primaryKeys) add(namesOf(key.columns), true);
  for (const { config } of indexes) {
    const { where, method = 'btree' } = config;
    // Partial indexes miss rows, and range indexes find no values.
    if (where === undefined && ['btree', 'hash'].includes(method)) {
      add(namesOf(config.columns), false);
    }
  }
  return [...places.values()];
}

/** The names of columns; an expression has none. */
const namesOf = (columns: readonly object[]): string[] =>
  columns.map((column) => ('name' in column ? String(column.name) : ''));

/** Rows shown of a place: an address may have thousands. */
const mostRows = 3;
const longestValue = 300;

/** A row with its page and later changes; its archived item is read apart. */
const foundShape = () =>
  z.object({
    row: traceDocument.shape.rows.element,
    /** The key after the chain, as text. */
    item: z.string(),
    /** Null: not archived, or too large. */
    body: z.instanceof(Buffer).nullable(),
  });

const own = (column: string) => sql.raw(`t."${column}"`);

async function rowsAt(
  db: Database,
  { table, column, keyColumns }: ColumnRef,
  { is, value, chains, wei }: { is: Kind; value: string; chains: string[]; wei: string[] },
): Promise<Row[]> {
  if (chains.length === 0) return [];
  const { primaryKeys, columns } = getTableConfig(table);
  const name = tableName(table);
  const isSought = sql`${own(column)} = ${is === 'height' ? sql`${value}::bigint` : sql`${value}::text`}`;
  // Each chain separately, in key order: the newest rows of a long history come last.
  const order = (keyColumns ?? []).map((key) => sql`${own(key)} desc`);
  const rows = chains.map(
    (chain) => sql`(
      select * from ${sql.raw(name)} as t where t.chain_id = ${chain}::bigint and ${isSought}
      ${order.length === 0 ? sql`` : sql`order by ${sql.join(order, sql`, `)}`} limit ${mostRows}
    )`,
  );
  const keys = primaryKeys.flatMap((key) => namesOf(key.columns));
  const removed = columns.find((one) => ['removed_at', 'missing_since'].includes(one.name));
  const found = await execute(db).rows(foundShape)`
    select json_build_object(
      'relation', ${name}::text,
      'key', concat_ws(', ', ${sql.raw(keys.map((key) => `'${key}=' || t."${key}"`).join(', '))}),
      'columns', (
        select json_agg(json_build_object(
          'name', field.key, 'value', left(field.value, ${longestValue}),
          'native', case when concat(${name}::text, '.', field.key) = any(${sql.param(wei)}::text[])
            then (field.value::numeric * ('1e-' || native_decimals)::numeric)::text end
        ))
        from json_each_text(row_to_json(t)) as field
        where field.key not in ('first_seen_at', 'updated_at', 'page_id')
      ),
      'native_symbol', native_symbol,
      'page', case when pages.id is not null then json_build_object(
        'id', pages.id, 'walk_id', walk_id, 'feed', pages.feed, 'sequence', sequence,
        'fetched_at', fetched_at, 'cursor', cursor_in::text, 'body', null
      ) end,
      'changes', (
        select coalesce(json_agg(json_build_object('at', at, 'sentence', sentence) order by at desc), '[]')
        from (values
          (case when updated_at > first_seen_at then updated_at end, 'A later page changed it.'),
          (${removed === undefined ? sql`null` : own(removed.name)}, 'It is no longer in the list.'),
          ((
            select max(seen_at) from etl.late_arrivals as late
            join etl.feeds using (chain_id, operation)
            where feeds.feed = pages.feed and late.key = item
          ), 'It appeared after its part of the list had been verified.')
        ) as change(at, sentence)
        where at is not null
      )
    ) as row, item, case when octet_length(body) <= ${largestPacked} then body end as body
    from (select * from (${sql.join(rows, sql` union all `)}) as every limit ${mostRows}) as t
    cross join lateral (select ${own(keys.find((key) => key !== 'chain_id') ?? 'chain_id')}::text as item) as named
    left join explorer.chains on chains.chain_id = t.chain_id
    left join etl.pages on pages.id = t.page_id
    left join etl.raw_pages on raw_pages.page_id = t.page_id
  `;
  return found.map(({ row, item, body }) => {
    const archived = body === null ? null : archivedItem(body, item);
    return { ...row, page: row.page && { ...row.page, body: archived } };
  });
}

/** Limit of a compressed body to decompress, in bytes: a page has about ten thousand. */
const largestPacked = 1024 * 1024;
const longestItem = 3_000;
/** An item may repeat the URL of its request. */
const redact = createRedactor([]);

/** The page's item for a row, else the page's beginning; null: unreadable. */
function archivedItem(packed: Buffer, item: string): string | null {
  // A hash, an address or a number.
  const names = /^\w+$/u.test(item)
    ? new RegExp(String.raw`(?<![\w.])${item}(?![\w.])`, 'iu')
    : /^$/u;
  try {
    const page = parseBody(unpackBody(packed));
    const items: unknown = Reflect.get(Object(page), 'items');
    const texts = (Array.isArray(items) ? items : []).map((one) => JSON.stringify(one, null, 2));
    const text = texts.find((one) => names.test(one)) ?? JSON.stringify(page, null, 2);
    return redact(text).slice(0, longestItem);
  } catch {
    return null;
  }
}
