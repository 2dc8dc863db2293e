import type { z } from 'zod';
import type { Transaction } from '../db/transaction.ts';
import type { ItemRows, Operation } from '../operations/operation.ts';
import { loadAddresses } from './addresses.ts';
import { replaceChildren } from './children.ts';
import { shapeOf } from './statement.ts';
import { upsert, type CountsByPage } from './upsert.ts';

/** The valid, distinct items of one page. */
export interface LoadedPage {
  readonly page_id: number;
  readonly rows: readonly ItemRows[];
}

/**
 * Brings the rows of several pages, oldest first, into an operation's tables in one transaction.
 * An item that stands in two of the pages is written once, as the newer page shows it.
 *
 * @returns what each page added and changed in the operation's own table
 */
export async function loadPages(
  tx: Transaction,
  operation: Operation<z.ZodType>,
  pages: readonly LoadedPage[],
): Promise<CountsByPage> {
  const newest = new Map(
    pages.flatMap(({ page_id, rows }) => rows.map((item) => [item.key, { item, page_id }])),
  );
  const items = [...newest.values()];
  const counts = await upsert(
    tx,
    operation.table,
    items.map(({ item, page_id }) => ({ ...item.row, page_id })),
  );
  const { key } = shapeOf(operation.table);
  for (const [index, { table, parentKey }] of operation.children.entries()) {
    const sets = items.map(({ item, page_id }) => ({
      parent: Object.fromEntries(key.map((column, at) => [parentKey[at], item.row[column]])),
      page_id,
      rows: item.children[index] ?? [],
    }));
    await replaceChildren(tx, { table, parent: operation.table, setKey: parentKey }, sets);
  }
  await loadAddresses(
    tx,
    items.flatMap(({ item }) => item.addresses),
  );
  return counts;
}
