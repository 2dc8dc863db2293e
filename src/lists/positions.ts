import { sql, type SQL } from 'drizzle-orm';
import type { PgTable } from 'drizzle-orm/pg-core';
import { z } from 'zod';
import { tableName } from '../db/column-types.ts';
import type { Queryable } from '../db/query.ts';
import type { Paging } from './define.ts';
import type { Cursor, ListOrder, OrderKey } from './operation.ts';

/** A list that is highest first, and the table of its items, which has a column `removed_at`. */
export interface PlacedList {
  readonly name: string;
  readonly table: PgTable;
  readonly order: ListOrder;
}

const name = (column: string) => sql.raw(`"${column}"`);

/** The table and its columns as SQL; `key` reads as a text. */
export function columnsOf({ table, order: { columns } }: Omit<PlacedList, 'name'>) {
  return {
    table: sql.raw(tableName(table)),
    height: name(columns.height),
    key: columns.key === columns.height ? sql`${name(columns.key)}::text` : name(columns.key),
    time: name(columns.time),
  };
}

/** As SQL: whether an item is below a position. The planner uses the plain bound for a range. */
export const isBelow = ({ height, key }: ReturnType<typeof columnsOf>, place: OrderKey): SQL => sql`
  ${height} <= ${place.height} and (${height}, ${key}) < (${place.height}, ${place.key})
`;

/** Highest first, then highest key; an item met again at a border is in order. */
export const inOrder = (a: OrderKey, b: OrderKey): boolean =>
  a.height > b.height || (a.height === b.height && a.key >= b.key);

/** The transaction's time as a CTE: Citus servers differ in `now()`, and refuse it in a case. */
export const present = sql`present as materialized (select now() as at)`;
export const presentTime = sql`present.at`;

/** The lowest item in order on the last page of a walk that has one; null: none has. */
export async function lastPlace(db: Queryable, walkId: number): Promise<OrderKey | null> {
  const { rows } = await db.execute<{ height: number; key: string }>(sql`
    select bottom::float8 as height, last_key as key
    from etl.pages
    where walk_id = ${walkId} and last_key is not null and bottom is not null
    order by sequence desc
    limit 1
  `);
  return rows[0] ?? null;
}

/** The nearest stored items above a position that report their time, highest first. */
export async function timedAbove(
  db: Queryable,
  list: Omit<PlacedList, 'name'>,
  chainId: number,
  place: OrderKey,
  most: number,
): Promise<{ height: number; timeMs: number }[]> {
  const { table, height, key, time } = columnsOf(list);
  const { rows } = await db.execute<{ height: number; timeMs: number }>(sql`
    select ${height}::float8 as height, (1000 * extract(epoch from ${time}))::float8 as "timeMs"
    from ${table}
    where chain_id = ${chainId}
      and ${height} >= ${place.height}
      and (${height} > ${place.height} or ${key} > ${place.key})
      and ${time} is not null
    order by ${table}.${height}, ${key}
    limit ${most}
  `);
  return rows.toReversed();
}

/** Longest token, in characters: true ones have about 90; one that grows would fill the ledger. */
const longestToken = 4096;

/**
 * The cursor of the account-abstraction lists (spec 2.6, 4.2, 4.3): an opaque token that names the
 * next page's first item. `page_size` is dropped: it would fix the page size of a walk for ever.
 */
export const pageToken: Paging = {
  schema: z
    .object({
      page_token: z.string().min(1).max(longestToken, `is longer than ${longestToken} characters`),
    })
    .transform(({ page_token }): Cursor => ({ page_token })),
  query: (cursor, pageSize) => ({ ...cursor, page_size: pageSize }),
  /** The form of a user operations' token. */
  position({ page_token }) {
    const [, height, key] = /^(\d{1,15}),(0x[0-9a-f]{64})$/iu.exec(String(page_token)) ?? [];
    return height === undefined || key === undefined
      ? null
      : { height: Number(height), key: key.toLowerCase() };
  },
  names: 'first',
  cursorAt: ({ height, key }) => ({ page_token: `${height},${key}` }),
  topOf: (height) => ({ height, key: `0x${'f'.repeat(64)}` }),
};

/** The address that a ranked list's token names, lower case; null: the token has another form. */
export function tokenAddress({ page_token }: Cursor): string | null {
  return /^\d{1,15},(0x[0-9a-f]{40})$/iu.exec(String(page_token))?.[1]?.toLowerCase() ?? null;
}
