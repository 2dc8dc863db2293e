import { sql } from 'drizzle-orm';
import type { Feed } from '../feed.ts';

/** As SQL, after `from`: the stored items of a feed's list, by where they stand; more conditions may follow. */
export const itemsOf = ({ chain_id, operation }: Feed) =>
  sql`etl.listed_items where chain_id = ${chain_id} and operation = ${operation} and height is not null`;
