import type { PgTable } from 'drizzle-orm/pg-core';
import type { Row } from '../db/row.ts';
import type { Transaction } from '../db/transaction.ts';
import type { AddressObservation } from './address.ts';
import { findNewValues, writeChanges } from './addresses.ts';
import { replaceChildren } from './children.ts';
import { completeFromStored, completeItem, type MissingValues } from './complete.ts';
import { type Changeable, type CountsByPage, shapeOf, upsert } from './upsert.ts';

/** Where rows go: a table, and those whose rows belong to one of its rows. */
interface Tables {
  readonly table: PgTable;
  readonly children: readonly { readonly table: PgTable; readonly parentKey: readonly string[] }[];
  /** Columns that make a row another one when they change. */
  readonly version: readonly string[];
}

/** An item as rows; `children` has an entry for each child table, in the same order. */
interface LoadedItem {
  readonly key: string;
  readonly row: Row;
  readonly children: readonly (readonly Row[])[];
  readonly addresses: readonly AddressObservation[];
  readonly missing: MissingValues | null;
}

/** The valid, distinct items of one page. */
interface LoadedPage {
  readonly page_id: number;
  readonly rows: readonly LoadedItem[];
}

/**
 * Brings the rows of several pages, oldest first, into their tables in one transaction.
 * An item that stands in two of the pages is written once, as the newer page shows it. What of an item
 * was not read stays as it was known.
 *
 * @param changeable which stored rows of the items' own table a page may change
 * @returns what each page added and changed in the items' own table
 */
export async function loadPages(
  tx: Transaction,
  tables: Tables,
  pages: readonly LoadedPage[],
  changeable: Changeable = 'older',
): Promise<CountsByPage> {
  const { table: own, children } = tables;
  const newest = new Map<string, LoadedItem & { page_id: number }>();
  for (const { page_id, rows } of pages) {
    for (const item of rows) {
      const before = item.missing === null ? undefined : newest.get(item.key);
      const whole = before === undefined ? item : completeItem(item, before, tables);
      newest.set(item.key, { ...whole, page_id });
    }
  }
  const items = await completeFromStored(tx, tables, [...newest.values()]);
  const counts = await upsert(
    tx,
    own,
    items.map(({ row, page_id }) => ({ ...row, page_id })),
    changeable,
  );
  const changed = await findNewValues(
    tx,
    // Of repeated items too, and in the order of the pages: each observation may report what no other does.
    pages.flatMap(({ rows }) => rows.flatMap(({ addresses }) => addresses)),
  );
  const { key } = shapeOf(own);
  for (const [index, { table, parentKey }] of children.entries()) {
    const sets = items.map(({ row, page_id, children: members }) => ({
      parent: Object.fromEntries(key.map((column, at) => [parentKey[at], row[column]])),
      page_id,
      rows: members[index] ?? [],
    }));
    await replaceChildren(tx, { table, parent: own, setKey: parentKey, newness: 'parent' }, sets);
  }
  await writeChanges(tx, changed);
  return counts;
}
