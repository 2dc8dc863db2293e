import { sql } from 'drizzle-orm';
import type { Transaction } from '../../db/transaction.ts';
import { operations } from '../../operations/index.ts';
import type { ListOrder, OrderKey } from '../../operations/operation.ts';
import { feedName, ofFeed, type Feed } from '../feed.ts';
import { itemsOf } from './items.ts';
import type { Gap } from './coverage.ts';

/** For how long it is remembered that made positions lead nowhere: one refused request a day asks again. */
const memory = '1 day';
/** Walks in a row that fail before they arrive, of whatever failure: an outage fails many a page beside them. */
const mostFailures = 3;
/** Stored items above a gap that are looked at for a way in; those that have left the list lead to none. */
const mostEntries = 20;

/** The order of the feed's list. */
export function orderOf(feed: Feed): ListOrder {
  const { order } = operations[feed.operation];
  if (order === null) throw new Error(`the list of ${feedName(feed)} has no order`);
  return order;
}

/**
 * Whether the service serves what a made position names, as far as was seen: it may refuse such a one, or
 * take it for something else.
 */
export async function believesEntries(tx: Transaction, feed: Feed, at: Date): Promise<boolean> {
  const { rows } = await tx.execute<{ believed: boolean }>(sql`
    with entered as (
      select id, state, failure, reason, pages
      from etl.walks
      where ${ofFeed(feed)}
        and started_at > ${at.toISOString()}::timestamptz - ${memory}::interval
        and scope ? 'entry'
    )
    select not exists (
      select from entered
      where reason = 'astray' or (failure = 'cursor-refused' and pages = 0)
    ) and (
      select count(*) < ${mostFailures}
      from entered
      where state = 'abandoned' and pages = 0 and reason <> 'superseded'
        and id > coalesce((select max(id) from entered where pages > 0), 0)
    ) as believed
  `);
  return rows[0]?.believed === true;
}

/**
 * The lowest stored item above a gap: a walk that enters at it meets all that is in the gap, and nothing
 * else. Null where there is none, or each was entered at before and did not lead above the gap.
 */
export async function itemAbove(tx: Transaction, feed: Feed, gap: Gap): Promise<OrderKey | null> {
  const { rows } = await tx.execute<{ height: string; key: string }>(sql`
    select height, key
    from (
      select height, key from ${itemsOf(feed)} and height > ${gap.to}
      order by height, key
      limit ${mostEntries}
    ) as item
    where not exists (
      select from etl.walks
      where ${ofFeed(feed)}
        and not from_head
        and state <> 'running'
        and (scope -> 'entry' ->> 'height')::bigint = item.height
        and scope -> 'entry' ->> 'key' = item.key
        and coalesce(top, 0) <= ${gap.to}
    )
    order by height, key
    limit 1
  `);
  const [row] = rows;
  return row === undefined ? null : { height: Number(row.height), key: row.key };
}
