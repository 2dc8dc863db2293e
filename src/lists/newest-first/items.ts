import { sql } from 'drizzle-orm';
import { type Feed, feedName } from '../feed.ts';
import { columnsOf } from '../positions.ts';
import { operations } from '../registry.ts';

/**
 * As SQL, after `from`: the stored items of a feed's list, by where they stand; more conditions may
 * follow. Of their own table: where it is spread over servers, a union with another one would be copied
 * before its conditions are met.
 *
 * @throws Error where the feed's list has no order by place
 */
export function itemsOf({ chain_id, operation }: Feed) {
  const { table: own, order } = operations[operation];
  if (order === null) throw new Error(`${feedName({ chain_id, operation })} is in no order`);
  const { table, height, key, time } = columnsOf({ table: own, order });
  return sql`
    (
      select chain_id, ${height} as height, ${key} as key, ${time} as timestamp from ${table}
    ) as item
    where chain_id = ${chain_id} and height is not null`;
}
