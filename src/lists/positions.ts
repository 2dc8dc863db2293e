import { sql, type SQL } from 'drizzle-orm';
import { z } from 'zod';
import { tableName } from '../db/column-types.ts';
import { execute, type Queryable } from '../db/transaction.ts';
import {
  type Cursor,
  type ListOrder,
  type OrderedOperation,
  type OrderKey,
  orderKeyShape,
} from './operation.ts';

const name = (column: string) => sql.raw(`"${column}"`);

/** Fifteen digits, as the longest number has, so that a key of several parts sorts as the list does. */
const digitsOfPart = 15;

/** The key of an item as text. */
export const keyText = (parts: readonly (string | number)[]): string =>
  parts.length === 1
    ? String(parts[0])
    : parts
        .map((part) => (typeof part === 'number' ? String(part).padStart(digitsOfPart, '0') : part))
        .join();

/** The field of `extra` that keeps the height of an item that was served out of order. */
export const outOfOrder = ({ columns }: ListOrder): string => `${columns.height} (out of order)`;

/** The table and its columns as SQL; `key` is `keyText`. */
export function placeColumns({ table, order }: OrderedOperation) {
  const isWhole = order.key.length === 1;
  const parts = order.key.map(({ column, isNumber }) => {
    if (!isNumber) return name(column);
    const text = sql`${name(column)}::text`;
    return isWhole ? text : sql`lpad(${text}, ${sql.raw(String(digitsOfPart))}, '0')`;
  });
  return {
    table: sql.raw(tableName(table)),
    height: name(order.columns.height),
    key: isWhole ? sql.join(parts) : sql`(${sql.join(parts, sql` || ',' || `)})`,
    time: name(order.columns.time),
  };
}

/** As SQL: whether an item has one of some keys, by an index on its first part. */
export function hasKey(list: OrderedOperation, keys: readonly string[]): SQL {
  const isOne = sql`${placeColumns(list).key} = any(${sql.param(keys)}::text[])`;
  const [first, ...others] = list.order.key;
  // The text of one column is that column, which has an index; of a number, or of several, it is computed.
  if (first === undefined || (others.length === 0 && !first.isNumber)) return isOne;
  const firsts = keys.map((key) => key.split(',')[0]);
  const type = sql.raw(first.isNumber ? 'bigint' : 'text');
  return sql`${name(first.column)} = any(${sql.param(firsts)}::${type}[]) and ${isOne}`;
}

/** As SQL: whether an item is above a position. The planner uses the plain bound for a range. */
export const isAbove = ({ height, key }: Record<'height' | 'key', SQL>, place: OrderKey) => sql`
  ${height} >= ${place.height} and (${height}, ${key}) > (${place.height}, ${place.key})
`;

/** As SQL: the stored items below a position that have not left the list. */
export function listedBelow(list: OrderedOperation, chainId: number, place: OrderKey) {
  const { height, key } = placeColumns(list);
  return sql`
    chain_id = ${chainId} and removed_at is null
    and ${height} <= ${place.height} and (${height}, ${key}) < (${place.height}, ${place.key})
  `;
}

/** Highest first, then highest key; an item met again at a border is in order. */
export const inOrder = (a: OrderKey, b: OrderKey): boolean =>
  a.height > b.height || (a.height === b.height && a.key >= b.key);

/** The item that a cursor names as the first of its page, which exists. Null: it names none, or is synthetic. */
export function namedBy(order: ListOrder | null, cursor: Cursor | null): OrderKey | null {
  if (order?.names !== 'first' || cursor === null) return null;
  const named = order.position(cursor);
  return named === null || named.key === order.topOf(named.height).key ? null : named;
}

/** The transaction's time as a CTE, which Citus computes once, on the coordinator. */
export const present = sql`present as materialized (select etl.change_time() as at)`;

/** The lowest item in order on the last page of a walk that has one; null: none has. */
export const lastPlace = (db: Queryable, walkId: number) =>
  execute(db).row(orderKeyShape)`
    select bottom::float8 as height, last_key as key
    from etl.pages
    where walk_id = ${walkId} and last_key is not null and bottom is not null
    order by sequence desc
    limit 1
  `;

/** The nearest stored item above a position that the list still has, behind `skipped` nearer ones; null: there is none. */
export async function itemAbove(
  list: OrderedOperation,
  db: Queryable,
  chainId: number,
  place: OrderKey,
  skipped = 0,
): Promise<OrderKey | null> {
  const columns = placeColumns(list);
  const { table, height, key } = columns;
  return execute(db).row(orderKeyShape)`
    select ${height}::float8 as height, ${key} as key
    from ${table}
    where chain_id = ${chainId} and ${isAbove(columns, place)} and removed_at is null
    order by ${table}.${height}, ${key}
    limit 1 offset ${skipped}
  `;
}

/** Those of some stored items that are evidence: their pages wrote some items in order. */
export async function confirmed<Item extends { readonly page_id: string }>(
  db: Queryable,
  items: readonly Item[],
): Promise<Item[]> {
  const foreign = await execute(db).values(z.string)`
    select id from etl.pages
    where id = any(${sql.param(items.map(({ page_id }) => page_id))}::bigint[])
      and not is_ordered and misplaced is null
  `;
  return items.filter(({ page_id }) => !foreign.includes(page_id));
}

/** Whether one of some items is stored, and is evidence. */
export async function sharesStored(
  list: OrderedOperation,
  db: Queryable,
  chainId: number,
  keys: readonly string[],
): Promise<boolean> {
  const stored = await execute(db).rows(() => z.object({ page_id: z.string() }))`
    select page_id from ${placeColumns(list).table}
    where chain_id = ${chainId} and ${hasKey(list, keys)}
  `;
  return (await confirmed(db, stored)).length > 0;
}

/** The cursor of a list. */
export interface Paging extends Pick<ListOrder, 'position' | 'names' | 'cursorAt' | 'topOf'> {
  /** What `next_page_params` may hold. */
  readonly schema: z.ZodType<Cursor | null>;
  query(cursor: Cursor | null, pageSize: number): Cursor;
}

/** Longest token, in characters: true ones have about 90; one that grows would fill the ledger. */
const longestToken = 4096;

/** The forms of what a token names of an item beside its height. */
const tokenParts = {
  hash: { form: '0x[0-9a-f]{64}', highest: `0x${'f'.repeat(64)}` },
  address: { form: '0x[0-9a-f]{40}', highest: `0x${'f'.repeat(40)}` },
  number: { form: `\\d{1,${digitsOfPart}}`, highest: '9'.repeat(digitsOfPart) },
} as const;

/**
 * The cursor of the account-abstraction lists (spec 2.6, 4.2, 4.3): a token that names the next page's first item, by its
 * height (or total) and the parts of its key. `page_size` is dropped: it would fix the page size of a walk for ever.
 */
export function pageToken(...parts: readonly (keyof typeof tokenParts)[]): Paging {
  const forms = parts.map((part) => `(${tokenParts[part].form})`);
  const token = new RegExp(`^${[`(\\d{1,${digitsOfPart}})`, ...forms].join()}$`, 'iu');
  const numbersIn = (named: readonly string[]) =>
    named.map((value, at) => (parts[at] === 'number' ? Number(value) : value.toLowerCase()));
  return {
    schema: z
      .object({
        page_token: z
          .string()
          .min(1)
          .max(longestToken, `is longer than ${longestToken} characters`),
      })
      .transform(({ page_token }): Cursor => ({ page_token })),
    query: (cursor, pageSize) => ({ ...cursor, page_size: pageSize }),
    position({ page_token }) {
      const [, height, ...named] = token.exec(String(page_token)) ?? [];
      if (height === undefined) return null;
      return { height: Number(height), key: keyText(numbersIn(named)) };
    },
    names: 'first',
    cursorAt: ({ height, key }) => ({
      page_token: [height, ...numbersIn(key.split(','))].join(),
    }),
    topOf: (height) => ({ height, key: parts.map((part) => tokenParts[part].highest).join() }),
  };
}

/** A number, or its digits; null and blank never mean 0. */
const wholeNumber = z
  .union([z.int().nonnegative(), z.string().regex(/^\d{1,15}$/u)])
  .transform(Number);

// The length of the page just served, so 0 after an empty one; requested with 0 it is refused.
const items_count = wholeNumber.nullish();

/** The cursor of lists whose next page has the numbers below a field's; nothing follows `end`. */
export const belowNumber = (field: 'id' | 'block_number', end: number): Paging => ({
  schema: z.object({ [field]: wholeNumber, items_count }).transform((given): Cursor | null => {
    const number = Number(given[field]);
    if (number <= end) return null;
    return given.items_count
      ? { [field]: number, items_count: given.items_count }
      : { [field]: number };
  }),
  /** Generation v12 takes the page size from `items_count` and omits it from the cursor; the older one prefers its cursor's own. */
  query: (cursor, pageSize) => ({ items_count: pageSize, ...cursor }),
  position({ [field]: number }) {
    return typeof number === 'number' ? { height: number, key: String(number) } : null;
  },
  names: 'above',
  cursorAt: ({ height }) => ({ [field]: height + 1 }),
  topOf: (height) => ({ height, key: String(height) }),
});
