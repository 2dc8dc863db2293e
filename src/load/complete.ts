import { sql } from 'drizzle-orm';
import type { PgTable } from 'drizzle-orm/pg-core';
import type { Row } from '../db/row.ts';
import type { Transaction } from '../db/transaction.ts';
import { parseExactly } from '../exact-number.ts';
import { completeMembers, fill } from './address-merge.ts';
import { keyMatch, columnList, recordset, shapeOf } from './upsert.ts';

/** What of an item was not read: its own columns, and for each child table positions of its rows. */
export interface MissingValues {
  readonly columns: readonly string[];
  readonly children: readonly (readonly number[] | 'all')[];
}

interface ObservedItem {
  readonly row: Row;
  readonly children: readonly (readonly Row[])[];
  readonly missing: MissingValues | null;
}

interface Known {
  readonly row: Row;
  readonly children: readonly (readonly Row[])[];
}

/** Where rows go, and which columns make a row another one: `Operation`. */
interface Tables {
  readonly table: PgTable;
  readonly children: readonly { readonly table: PgTable; readonly parentKey: readonly string[] }[];
  readonly version: readonly string[];
}

/** An item whose values that were not read are as they were known, unless it is another one by now. */
export function completeItem<Item extends ObservedItem>(
  item: Item,
  known: Known,
  { version }: Tables,
): Item {
  const { missing } = item;
  if (missing === null || !isSame(item.row, known.row, version)) return item;
  return {
    ...item,
    row: fill(item.row, known.row, missing.columns),
    children: item.children.map((rows, index) => {
      const unread = missing.children[index] ?? [];
      const before = known.children[index] ?? [];
      return unread === 'all' ? before : completeMembers(rows, before, unread, () => true);
    }),
  };
}

const isSame = (reported: Row, known: Row, version: readonly string[]) =>
  version.every(
    (column) =>
      (reported[column] ?? null) === null ||
      (known[column] ?? null) === null ||
      reported[column] === known[column],
  );

/**
 * Completes items of which something was not read by the rows that are stored, before they replace
 * them. Locks those, so that they do not change meanwhile. Almost always there is no such item, and
 * this sends no statement.
 */
export async function completeFromStored<Item extends ObservedItem>(
  tx: Transaction,
  tables: Tables,
  items: readonly Item[],
): Promise<readonly Item[]> {
  const partly = items.filter(({ missing }) => missing !== null);
  if (partly.length === 0) return items;
  const { key } = shapeOf(tables.table);
  const rows = partly.map(({ row }) => row);
  const own = await storedRows(tx, tables.table, { columns: key, rows }, 'for update of stored');
  const children: Row[][] = [];
  for (const { table, parentKey } of tables.children) {
    const parents = rows.map((row) =>
      Object.fromEntries(key.map((column, at) => [parentKey[at], row[column]])),
    );
    children.push(await storedRows(tx, table, { columns: parentKey, rows: parents }));
  }
  const ownByKey = new Map(own.map((row) => [keyText(row, key), row]));
  const childrenByKey = children.map((stored, index) =>
    Map.groupBy(stored, (child) => keyText(child, tables.children[index]?.parentKey ?? [])),
  );
  return items.map((item) => {
    const spelled = keyText(item.row, key);
    const row = item.missing === null ? undefined : ownByKey.get(spelled);
    if (row === undefined) return item;
    const known = childrenByKey.map((stored) => stored.get(spelled) ?? []);
    return completeItem(item, { row, children: known }, tables);
  });
}

const keyText = (row: Row, columns: readonly string[]) =>
  JSON.stringify(columns.map((column) => row[column]));

/** The rows of a table, without what the loader fills itself, whose columns are as one of the given rows has them. */
export async function storedRows(
  tx: Transaction,
  table: PgTable,
  { columns, rows }: { readonly columns: readonly string[]; readonly rows: readonly Row[] },
  lock: 'for update of stored' | '' = '',
): Promise<Row[]> {
  const shape = shapeOf(table);
  const { rows: stored } = await tx.execute<{ row: string }>(sql`
    select (to_jsonb(stored) - array['first_seen_at', 'updated_at', 'page_id'])::text as row
    from ${sql.raw(shape.name)} as stored
    join ${recordset('given', shape, columns, rows)}
      on ${sql.raw(keyMatch(columns, 'stored', 'given'))}
    order by ${sql.raw(columnList(shape.key, 'stored.'))}
    ${sql.raw(lock)}
  `);
  // Amounts have more digits than a double.
  return stored.map(({ row }) => parseExactly(row) as Row);
}
