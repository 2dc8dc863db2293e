import type { PgTable } from 'drizzle-orm/pg-core';
import type { Row, Transaction } from '../db/transaction.ts';
import { completeMembers, fill, writeObservations } from './address-merge.ts';
import type { AddressObservation } from './address.ts';
import {
  type Changeable,
  type ChildLink,
  type CountsByPage,
  rowKey,
  replaceChildren,
  shapeOf,
  storedByKey,
  upsert,
} from './upsert.ts';

export interface Tables {
  readonly table: PgTable;
  readonly children: readonly ChildLink[];
  /** Columns whose change makes a row another one: the block of a height with another hash. */
  readonly version: readonly string[];
}

interface OrderedTables extends Tables {
  /** Its `height` is the column of a row's place; null: a list without order. */
  readonly order: { readonly columns: { readonly height: string } } | null;
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
  tables: OrderedTables,
  pages: readonly LoadedPage[],
  changeable: Changeable = 'older',
): Promise<CountsByPage> {
  const shown = pages.flatMap(({ page_id, rows }) => rows.map((item) => ({ ...item, page_id })));
  const counts: CountsByPage = new Map();
  for (const [round, items] of roundsOf(shown).entries()) {
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
function roundsOf(shown: readonly ShownItem[]): ShownItem[][] {
  const times = new Map<string, number>();
  const rounds: ShownItem[][] = [];
  for (const item of shown) {
    const round = times.get(item.key) ?? 0;
    times.set(item.key, round + 1);
    (rounds[round] ??= []).push(item);
  }
  return rounds;
}

/** Upserts items of different keys, with their child rows. Returns what its statements counted. */
async function loadItems(
  tx: Transaction,
  tables: OrderedTables,
  shown: readonly ShownItem[],
  changeable: Changeable,
) {
  const { table, children, order } = tables;
  const { key } = shapeOf(table);
  const partly = shown.filter(({ missing }) => missing !== null);
  // Another transaction may be adding them too: what it knows of them is stored then, and stays. The others are locked with
  // them, in the order of the upsert below, or two transactions could wait for each other.
  const first = partly.length === 0 ? [] : shown;
  const added = await upsert(
    tx,
    table,
    first.map(({ row, missing, page_id }) => ({ ...row, ...missing?.unplaced?.row, page_id })),
    'none',
  );
  const items = partly.length === 0 ? shown : await completeItems(tx, tables, shown, partly);
  const rows = items.map(({ row, page_id }) => ({ ...row, page_id }));
  const place = order === null || key.includes(order.columns.height) ? null : order.columns.height;
  const written = await upsert(tx, table, rows, changeable, place);
  for (const [index, link] of children.entries()) {
    const sets = items.map(({ row, page_id, children: members }) => ({
      parent: parentOf(row, key, link.setKey),
      page_id,
      rows: members[index] ?? [],
    }));
    await replaceChildren(tx, link, sets);
  }
  return [...added, ...written];
}

/** Completes items that were read in part by the stored rows, which are locked. */
async function completeItems(
  tx: Transaction,
  { table, children, version }: Tables,
  items: readonly ShownItem[],
  partly: readonly ShownItem[],
): Promise<readonly ShownItem[]> {
  const { key } = shapeOf(table);
  const stored: Map<string, Row[]>[] = [];
  for (const { table: own, setKey } of [{ table, setKey: key }, ...children]) {
    const keys = partly.map(({ row }) => parentOf(row, key, setKey));
    stored.push(await storedByKey(tx, own, setKey, keys));
  }
  return items.map((item) => {
    if (item.missing === null) return item;
    const [known, ...parts] = stored.map((rows) => rows.get(rowKey(item.row, key)) ?? []);
    return completeItem(item, item.missing, { row: known?.[0] ?? {}, children: parts }, version);
  });
}

/** Fills an item's unread values from the known ones, unless its version changed. */
function completeItem(
  item: ShownItem,
  missing: MissingValues,
  known: KnownItem,
  version: readonly string[],
): ShownItem {
  if (!isSame(item.row, known.row, version)) return item;
  const { columns, unplaced } = missing;
  const row = fill(item.row, known.row, columns);
  const isUnplaced = unplaced !== undefined && row[unplaced.column] === null;
  return {
    ...item,
    row: isUnplaced ? { ...row, ...unplaced.row } : row,
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

/** The key of a row, as its child rows name it. */
const parentOf = (row: Row, key: readonly string[], setKey: readonly string[]): Row =>
  Object.fromEntries(key.map((column, at) => [setKey[at], row[column]]));
