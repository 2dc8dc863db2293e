import { sql } from 'drizzle-orm';
import { execute, type Transaction } from '../db/transaction.ts';
import type { Operation, OrderedOperation } from '../lists/operation.ts';
import { hasKey, outOfOrder, placeColumns } from '../lists/positions.ts';
import type { WalkRow } from '../lists/tables.ts';
import { z } from 'zod';
import { type CoveredPage, coverPages } from './judge.ts';
import type { NormalisedPage } from './page.ts';

type WrittenPage = Pick<NormalisedPage, 'page_id' | 'rows'>;

/** An item that names a block, which nothing confirms. */
interface Unconfirmed {
  readonly item_key: string;
  readonly at: number;
  readonly page_id: number;
}

/**
 * New items of pages of which nothing is in order keep the block that they name, unless all items of that block are known:
 * then it stays in `extra` alone, as of an item out of order. Pages are judged as if each had a transaction of its own.
 */
export async function withdrawPlaces(
  tx: Transaction,
  operation: Operation,
  walk: WalkRow,
  pages: readonly (WrittenPage & CoveredPage)[],
): Promise<void> {
  if (operation.order === null || !operation.order.givesCoverage) return;
  const { order } = operation;
  const unconfirmed = pages.map(unconfirmedIn);
  const heights = unconfirmed.flat().map(({ at }) => at);
  if (heights.length === 0) return;
  const verified = await execute(tx).values(z.number)`
    select height::float8 from unnest(${sql.param(heights)}::bigint[]) as height
    where height <@ (select range_agg(verified) from etl.coverage where feed = ${walk.feed})
  `;
  const items = unconfirmed.flatMap((ofPage, index) => {
    const before = { pages: pages.slice(0, index), end: null };
    const { covered } = coverPages(order, walk, before);
    return ofPage.map((item) => {
      const isKnown =
        verified.includes(item.at) ||
        covered.some(({ from, to }) => item.at >= from && item.at <= to);
      return { ...item, is_known: isKnown };
    });
  });
  await keepBlocksApart(tx, operation, walk.chain_id, items);
}

/**
 * Marks rows of pages that are decoded again as the pages left them: those without a block keep in `extra` the block that their
 * item names, whatever else is there. No other row loses its block: what was known then is not known any more.
 */
export async function keepMarks(
  tx: Transaction,
  operation: Operation,
  chainId: number,
  pages: readonly WrittenPage[],
): Promise<void> {
  if (operation.order === null || !operation.order.givesCoverage) return;
  const items = pages.flatMap(unconfirmedIn).map((item) => ({ ...item, is_known: false }));
  if (items.length > 0) await keepBlocksApart(tx, operation, chainId, items);
}

const unconfirmedIn = ({ page_id, rows }: WrittenPage): Unconfirmed[] =>
  rows.flatMap(({ key, height, missing }) =>
    height === null || missing?.unproven === undefined
      ? []
      : { item_key: key, at: height, page_id },
  );

/** Of rows that these pages wrote: the new ones at known blocks, and those that have no block already. */
async function keepBlocksApart(
  tx: Transaction,
  list: OrderedOperation,
  chainId: number,
  items: readonly (Unconfirmed & { readonly is_known: boolean })[],
): Promise<void> {
  const { table, key, height } = placeColumns(list);
  const field = outOfOrder(list.order);
  const keys = items.map(({ item_key }) => item_key);
  const byRow = Object.fromEntries(
    items.map(({ item_key, page_id, at, is_known }) => [
      `${item_key} ${page_id}`,
      { is_known, mark: { [field]: at } },
    ]),
  );
  // Citus updates spread rows neither by a join with a function nor by a stable one.
  const item = sql`(${JSON.stringify(byRow)}::jsonb -> (${key} || ' ' || page_id::text))`;
  await tx.execute(sql`
    update ${table}
    set ${height} = null, extra = coalesce(extra, '{}') || (${item} -> 'mark')
    where chain_id = ${chainId} and ${hasKey(list, keys)} and ${item} is not null
      and case when ${height} is null then not coalesce(extra, '{}') ? ${sql.param(field)}
               else ${item} -> 'is_known' = 'true' and first_seen_at = updated_at end
  `);
}
