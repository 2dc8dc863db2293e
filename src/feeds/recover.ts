import { sql } from 'drizzle-orm';
import { type Database, transact } from '../db/transaction.ts';
import { troubledStates, type Feed, type FeedState } from '../lists/feed.ts';
import type { TickRow } from '../lists/tables.ts';

/** What a feed was before it recovered. */
export interface Recovered {
  readonly was: FeedState;
  readonly reason: string | null;
}

const troubled = sql`any(${sql.param(troubledStates)}::text[])`;

const ofFeed = ({ chain_id, operation }: Pick<TickRow, 'chain_id' | 'operation'>) =>
  sql`chain_id = ${chain_id} and operation = ${operation}`;

/**
 * Notes that a slice works on a feed. A feed in trouble keeps its state until something succeeded:
 * a try is no success.
 *
 * @returns whether it is in trouble
 */
export async function beginWork(db: Database, feed: Feed): Promise<boolean> {
  const { rows } = await db.execute<{ troubled: boolean }>(sql`
    with work as (
      update etl.feeds set state = 'running', failure = null, reason = null, updated_at = now()
      where ${ofFeed(feed)} and state <> 'running' and not state = ${troubled}
    )
    select state = ${troubled} as troubled from etl.feeds where ${ofFeed(feed)}
  `);
  return rows[0]?.troubled ?? false;
}

/**
 * Ends the trouble of a feed after one of its ticks succeeded, unless another of its ticks is still
 * in trouble: of two lanes, one that goes well does not hide one that doesn't.
 *
 * @returns null when the feed is in no trouble, or still in one
 */
export async function recover(
  db: Database,
  tick: TickRow,
  state: FeedState,
): Promise<Recovered | null> {
  return transact(db, async (tx) => {
    // The feed before its tick, as whoever opens a tick locks them.
    const { rows } = await tx.execute<{ was: FeedState; reason: string | null }>(sql`
      with before as (
        select state, reason from etl.feeds where ${ofFeed(tick)} for update
      )
      update etl.feeds
      set state = ${state}, failure = null, reason = null, look_again_at = null, updated_at = now()
      from before
      where ${ofFeed(tick)}
        and before.state = ${troubled}
        and not exists (
          select from etl.ticks
          where ${ofFeed(tick)} and state = 'open' and id <> ${tick.id} and troubles > 0
        )
      returning before.state as was, before.reason
    `);
    await tx.execute(sql`update etl.ticks set troubles = 0 where id = ${tick.id} and troubles > 0`);
    return rows[0] ?? null;
  });
}

/** Keeps schedules from looking at a feed before so many ms have passed. */
export async function lookLater(db: Database, feed: Feed, afterMs: number): Promise<void> {
  await db.execute(sql`
    update etl.feeds
    set look_again_at = now() + make_interval(secs => ${afterMs / 1000}::float8)
    where ${ofFeed(feed)}
  `);
}

/** Nobody looks later than this; a time beyond it is of a clock that was set back. */
const latestLook = '2 days';

/** Whether schedules are not to look at a feed yet. */
export async function isLookedAtLater(db: Database, feed: Feed): Promise<boolean> {
  const { rows } = await db.execute(sql`
    select from etl.feeds
    where ${ofFeed(feed)}
      and look_again_at > now()
      and look_again_at < now() + ${latestLook}::interval
  `);
  return rows.length > 0;
}
