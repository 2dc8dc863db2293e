import { sql } from 'drizzle-orm';
import { execute, type Transaction } from '../db/transaction.ts';
import type { ItemRows, Operation } from '../lists/operation.ts';
import { outOfOrder } from '../lists/positions.ts';
import type { WalkRow } from '../lists/tables.ts';
import { z } from 'zod';
import { coverPages } from './judge.ts';
import type { NormalisedPage } from './page.ts';

/**
 * New items of pages that nothing shows to belong where they were requested get no block of which all items are known: it
 * stays in `extra`, as of an item out of order. Pages are as if each had a transaction of its own.
 */
export async function withoutKnownPlaces(
  tx: Transaction,
  { order }: Operation,
  walk: WalkRow,
  pages: readonly NormalisedPage[],
): Promise<readonly NormalisedPage[]> {
  const unconfirmed = pages.flatMap(({ rows }) =>
    rows.flatMap((item) => (isUnconfirmed(item) ? item.height : [])),
  );
  if (order === null || unconfirmed.length === 0) return pages;
  const stored = await execute(tx).values(z.number)`
    select height::float8 from unnest(${sql.param(unconfirmed)}::bigint[]) as height
    where height <@ (select range_agg(verified) from etl.coverage where feed = ${walk.feed})
  `;
  const known = new Set(stored);
  return pages.map((page, at) => {
    const { covered } = coverPages(order, walk, { pages: pages.slice(0, at), end: null });
    const isKnown = (height: number) =>
      known.has(height) || covered.some(({ from, to }) => height >= from && height <= to);
    const rows = page.rows.map((item) => {
      if (!isUnconfirmed(item) || !isKnown(item.height)) return item;
      const extra = { ...(item.row['extra'] as object | null), [outOfOrder(order)]: item.height };
      return { ...item, missing: { ...item.missing, unproven: { extra } } };
    });
    return { ...page, rows };
  });
}

type Unconfirmed = ItemRows & {
  readonly height: number;
  readonly missing: NonNullable<ItemRows['missing']>;
};

const isUnconfirmed = (item: ItemRows): item is Unconfirmed =>
  item.height !== null && item.missing?.unproven !== undefined;
