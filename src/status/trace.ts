import { sql } from 'drizzle-orm';
import { getTableConfig, type PgColumn, type PgTable } from 'drizzle-orm/pg-core';
import { tableName } from '../db/column-types.ts';
import type { Database } from '../db/transaction.ts';
import { parseBody } from '../explorer/response.ts';
import { dataTables } from '../lists/registry.ts';
import { createRedactor } from '../redact.ts';
import { unpackBody } from '../sync/archive.ts';
import type { TraceDocument } from './endpoints.ts';

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
  const { rows: feeds } = await db.execute<{ chain_id: string }>(
    sql`select distinct chain_id from etl.feeds order by chain_id`,
  );
  const chains = feeds.map(({ chain_id }) => Number(chain_id));
  const found: Found[] = [];
  // One after the other: planning a statement over all tables takes longer than these.
  for (const place of placesOf(read.is)) found.push(...(await rowsAt(db, place, read, chains)));
  const rows: Row[] = [];
  for (const row of found) rows.push(await explain(db, row));
  return { term: read.value, is: read.is, hint: null, rows };
}

/** An indexed column to find rows by. */
interface Place {
  readonly table: PgTable;
  readonly column: string;
  /** The primary key after the chain and the column; null: another index has the column. */
  readonly rest: readonly PgColumn[] | null;
}

/** Indexed columns of the term's type in all tables that pages write; unique ones first. */
function placesOf(is: Kind): readonly Place[] {
  const type = is === 'height' ? 'bigint' : 'text collate "C"';
  const partOf = ({ rest }: Place) => rest?.length ?? Number.MAX_SAFE_INTEGER;
  return dataTables
    .flatMap((table) => placesIn(table, type))
    .toSorted((one, other) => partOf(one) - partOf(other));
}

function placesIn(table: PgTable, type: string): Place[] {
  const { primaryKeys, indexes, columns: all } = getTableConfig(table);
  const sought = (name: string | undefined) =>
    all.find((column) => column.name === name && column.getSQLType() === type)?.name;
  const own = primaryKeys.flatMap(({ columns }): Place[] => {
    const [chain, second, ...rest] = columns;
    const column = chain?.name === 'chain_id' ? sought(second?.name) : undefined;
    return column === undefined ? [] : [{ table, column, rest }];
  });
  const others = indexes.flatMap(({ config }): Place[] => {
    // Partial indexes miss rows, and range indexes find no values.
    if (config.where !== undefined || !['btree', 'hash'].includes(config.method ?? 'btree'))
      return [];
    const names = config.columns.map((column) => ('name' in column ? column.name : undefined));
    const column = sought(names.find((name) => name !== 'chain_id'));
    return column === undefined ? [] : [{ table, column, rest: null }];
  });
  const known = new Set(own.map(({ column }) => column));
  return [...own, ...others.filter(({ column }) => !known.has(column))];
}

/** Rows shown of a place: an address may have thousands. */
const mostRows = 3;
const longestValue = 300;

interface Found extends Omit<Row, 'page' | 'changes'> {
  readonly page_id: number;
  /** The key after the chain, as text. */
  readonly item: string;
  readonly first_seen_at: string;
  readonly updated_at: string;
  /** When it left its list. */
  readonly removed_at: string | null;
}

async function rowsAt(
  db: Database,
  { table, column, rest }: Place,
  { is, value }: { readonly is: Kind; readonly value: string },
  chains: readonly number[],
): Promise<Found[]> {
  const { primaryKeys, columns } = getTableConfig(table);
  const name = tableName(table);
  const from = sql.raw(name);
  const isSought = sql`${sql.raw(`t."${column}"`)} = ${is === 'height' ? sql`${value}::bigint` : sql`${value}::text`}`;
  // Each chain separately, in key order: the newest rows of a long history come last.
  const order = (rest ?? []).map(({ name: key }) => `t."${key}" desc`).join(', ');
  const rows = sql.join(
    chains.map(
      (chain) => sql`
        (select * from ${from} as t where t.chain_id = ${chain}::bigint and ${isSought}
         ${sql.raw(order === '' ? '' : `order by ${order}`)} limit ${mostRows})`,
    ),
    sql` union all `,
  );
  if (chains.length === 0) return [];
  const keys = primaryKeys.flatMap((key) => key.columns.map((one) => one.name));
  const removed = columns.find((one) => ['removed_at', 'missing_since'].includes(one.name))?.name;
  const { rows: found } = await db.execute<{ row: Found }>(sql`
    select json_build_object(
      'relation', ${name}::text,
      'key', concat_ws(', ', ${sql.raw(keys.map((key) => `'${key}=' || t."${key}"`).join(', '))}),
      'item', ${sql.raw(`t."${keys.find((key) => key !== 'chain_id') ?? 'chain_id'}"::text`)},
      'columns', (
        select json_agg(json_build_object('name', field.key, 'value', left(field.value, ${longestValue})))
        from json_each_text(row_to_json(t)) as field
        where field.key not in ('first_seen_at', 'updated_at', 'page_id')
      ),
      'page_id', page_id, 'first_seen_at', first_seen_at, 'updated_at', updated_at,
      'removed_at', ${sql.raw(removed === undefined ? 'null' : `t."${removed}"`)}
    ) as row
    from (${rows}) as t
    limit ${mostRows}
  `);
  return found.map(({ row }) => row);
}

/** Limit of a compressed body to decompress, in bytes: a page has about ten thousand. */
const largestPacked = 1024 * 1024;
const longestItem = 3_000;
/** An item may repeat the URL of its request. */
const redact = createRedactor([]);

interface Origin {
  readonly page: Omit<NonNullable<Row['page']>, 'body'> | null;
  readonly late_at: string | null;
}

/** A row's page, archived item and later changes. */
async function explain(db: Database, found: Found): Promise<Row> {
  const { page_id, item, first_seen_at, updated_at, removed_at, ...row } = found;
  const { rows } = await db.execute<{ origin: Origin; body: Buffer | null; encoding: string }>(sql`
    select json_build_object(
      'page', case when pages.id is not null then json_build_object(
        'id', pages.id, 'walk_id', walk_id, 'feed', pages.feed, 'sequence', sequence,
        'fetched_at', fetched_at, 'cursor', cursor_in::text
      ) end,
      'late_at', (
        select max(seen_at) from etl.late_arrivals
        where late_arrivals.feed = pages.feed and key = ${item}
      )
    ) as origin, case when octet_length(body) <= ${largestPacked} then body end as body, encoding
    from (values (${page_id}::bigint)) as sought(id)
    left join etl.pages using (id)
    left join etl.raw_pages on page_id = sought.id
  `);
  const [read] = rows;
  const archived = read?.body ? archivedItem(read.body, read.encoding, item) : null;
  const happened: readonly (readonly [at: string | null, sentence: string])[] = [
    [updated_at > first_seen_at ? updated_at : null, 'A later page changed it.'],
    [removed_at, 'It is no longer in the list.'],
    [read?.origin.late_at ?? null, 'It appeared after its part of the list had been verified.'],
  ];
  const changes = happened.flatMap(([at, sentence]) => (at === null ? [] : [{ at, sentence }]));
  return {
    ...row,
    page: read?.origin.page ? { ...read.origin.page, body: archived } : null,
    changes: changes.toSorted((one, other) => (one.at < other.at ? 1 : -1)),
  };
}

/** The page's item for a row, else the page's beginning; null: unreadable. */
function archivedItem(packed: Buffer, encoding: string, item: string): string | null {
  // A hash, an address or a number.
  const names = /^\w+$/u.test(item)
    ? new RegExp(String.raw`(?<![\w.])${item}(?![\w.])`, 'iu')
    : /^$/u;
  try {
    const page = parseBody(unpackBody(packed, encoding));
    const items: unknown = Reflect.get(Object(page), 'items');
    const texts = (Array.isArray(items) ? items : []).map((one) => JSON.stringify(one, null, 2));
    const text = texts.find((one) => names.test(one)) ?? JSON.stringify(page, null, 2);
    return redact(text).slice(0, longestItem);
  } catch {
    return null;
  }
}
