import type { PgTable } from 'drizzle-orm/pg-core';
import type { Row, Transaction } from '../db/transaction.ts';
import { completeMembers, fill, writeObservations } from './address-merge.ts';
import type { AddressObservation } from './address.ts';
import {
  addUnknown,
  type Changeable,
  type CountsByPage,
  rowKey,
  lockRows,
  replaceChildren,
  shapeOf,
  storedByKey,
  upsert,
} from './upsert.ts';

/** A table whose rows belong to a parent row; `parentKey` names the columns that point to it. */
export interface ChildTable {
  readonly table: PgTable;
  readonly parentKey: readonly string[];
}

export interface Tables {
  readonly table: PgTable;
  readonly children: readonly ChildTable[];
  /** Columns whose change makes a row another one: the block of a height with another hash. */
  readonly version: readonly string[];
}

/** What an item's rows do not report, so that the stored rows keep it. */
interface MissingValues {
  readonly columns: readonly string[];
  /** What the row has as long as a column is not known; else it is as another page left it. */
  readonly unplaced?: { readonly column: string; readonly row: Row };
  /** Positions (none: 0) of each child table's rows not read whole; `all`: nothing was read. */
  readonly children: readonly (readonly number[] | 'all')[];
}

/** An item's own row, and its rows of each child table, in the order of the tables. */
interface KnownItem {
  readonly row: Row;
  readonly children: readonly (readonly Row[])[];
}

/** What one valid item becomes, but for the provenance. `key` shows repeats within a page. */
export interface LoadedItem extends KnownItem {
  readonly key: string;
  readonly addresses: readonly AddressObservation[];
  /** Null where everything was reported, as it almost always is. */
  readonly missing: MissingValues | null;
}

type ShownItem = LoadedItem & { readonly page_id: number };

interface LoadedPage {
  readonly page_id: number;
  readonly rows: readonly LoadedItem[];
}

/**
 * Upserts the rows of pages, oldest first, as if each page had its own transaction; values that were not read stay as
 * stored. Returns what each page added and changed in the own table.
 */
export async function loadPages(
  tx: Transaction,
  tables: Tables,
  pages: readonly LoadedPage[],
  changeable: Changeable = 'older',
): Promise<CountsByPage> {
  const shown = pages.flatMap(({ page_id, rows }) => rows.map((item) => ({ ...item, page_id })));
  const counts: CountsByPage = new Map();
  for (const [round, items] of roundsOf(shown, ({ key }) => key).entries()) {
    for (const [page_id, { inserted, changed }] of await loadItems(tx, tables, items, changeable)) {
      const before = counts.get(page_id) ?? { inserted: 0, changed: 0 };
      // What an earlier round added has two equal times, and is not new any more.
      const added = round === 0 ? inserted : 0;
      counts.set(page_id, {
        inserted: before.inserted + added,
        changed: before.changed + changed + inserted - added,
      });
    }
  }
  const observations = pages.flatMap(({ rows }) => rows.flatMap((item) => item.addresses));
  await writeObservations(tx, observations);
  return counts;
}

/** Round n has what shows its key for the nth time, so that each round finds what the one before stored. */
function roundsOf<Shown>(shown: readonly Shown[], keyOf: (one: Shown) => string): Shown[][] {
  const times = new Map<string, number>();
  const rounds: Shown[][] = [];
  for (const one of shown) {
    const key = keyOf(one);
    const round = times.get(key) ?? 0;
    times.set(key, round + 1);
    (rounds[round] ??= []).push(one);
  }
  return rounds;
}

/** Upserts items of different keys, with their child rows. */
async function loadItems(
  tx: Transaction,
  tables: Tables,
  shown: readonly ShownItem[],
  changeable: Changeable,
): Promise<CountsByPage> {
  const { table: own, children } = tables;
  const added = await addPartly(tx, own, shown);
  const stored = await completeFromStored(
    tx,
    tables,
    shown.filter((item) => !added.includes(item)),
  );
  const rows = stored.map(({ row, page_id }) => ({ ...row, page_id }));
  const counts = await upsert(tx, own, rows, changeable);
  for (const { page_id } of added) {
    const { inserted = 0, changed = 0 } = counts.get(page_id) ?? {};
    counts.set(page_id, { inserted: inserted + 1, changed });
  }
  const items = [...stored, ...added];
  const { key } = shapeOf(own);
  for (const [index, { table, parentKey }] of children.entries()) {
    const sets = items.map(({ row, page_id, children: members }) => ({
      parent: parentOf(row, key, parentKey),
      page_id,
      rows: members[index] ?? [],
    }));
    await replaceChildren(tx, { table, parent: own, setKey: parentKey, newness: 'parent' }, sets);
  }
  return counts;
}

/**
 * Adds the items that were read in part and of which nothing is stored. Another transaction may be adding them too: what it knows
 * of them is stored then, and stays.
 */
async function addPartly(
  tx: Transaction,
  table: PgTable,
  shown: readonly ShownItem[],
): Promise<readonly ShownItem[]> {
  const partly = shown.filter(({ missing }) => missing !== null);
  if (partly.length === 0) return [];
  const rows = partly.map(({ row, missing, page_id }) => ({
    ...row,
    ...missing?.unplaced?.row,
    page_id,
  }));
  const keys = await addUnknown(tx, table, rows);
  return partly.filter(({ row }) => keys.has(rowKey(row, shapeOf(table).key)));
}

/** Fills an item's unread values from the known ones, unless its version changed. */
function completeItem(item: ShownItem, known: KnownItem, { version }: Tables): ShownItem {
  const { missing } = item;
  if (missing === null || !isSame(item.row, known.row, version)) return item;
  return {
    ...item,
    row: completeRow(item.row, known.row, missing),
    children: item.children.map((rows, index) => {
      const unread = missing.children[index] ?? [];
      const before = known.children[index] ?? [];
      return unread === 'all' ? before : completeMembers(rows, before, unread, () => true);
    }),
  };
}

function completeRow(reported: Row, known: Row, { columns, unplaced }: MissingValues): Row {
  const row = fill(reported, known, columns);
  return unplaced !== undefined && row[unplaced.column] === null
    ? { ...row, ...unplaced.row }
    : row;
}

const isSame = (reported: Row, known: Row, version: readonly string[]) =>
  version.every(
    (column) =>
      (reported[column] ?? null) === null ||
      (known[column] ?? null) === null ||
      reported[column] === known[column],
  );

/** Completes items that were read in part by the stored rows, which it locks. */
async function completeFromStored(
  tx: Transaction,
  tables: Tables,
  items: readonly ShownItem[],
): Promise<readonly ShownItem[]> {
  const partly = items.filter(({ missing }) => missing !== null);
  if (partly.length === 0) return items;
  const { key } = shapeOf(tables.table);
  const rows = partly.map(({ row }) => row);
  await lockRows(tx, tables.table, rows);
  const own = await storedByKey(tx, tables.table, { columns: key, rows });
  const children: Map<string, Row[]>[] = [];
  for (const { table, parentKey } of tables.children) {
    const parents = rows.map((row) => parentOf(row, key, parentKey));
    children.push(await storedByKey(tx, table, { columns: parentKey, rows: parents }));
  }
  return items.map((item) => {
    const text = rowKey(item.row, key);
    const [row] = item.missing === null ? [] : (own.get(text) ?? []);
    if (row === undefined) return item;
    return completeItem(
      item,
      { row, children: children.map((sets) => sets.get(text) ?? []) },
      tables,
    );
  });
}

/** The key of a row, as its child rows name it. */
const parentOf = (row: Row, key: readonly string[], parentKey: readonly string[]): Row =>
  Object.fromEntries(key.map((column, at) => [parentKey[at], row[column]]));
