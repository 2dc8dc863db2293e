import { sql } from 'drizzle-orm';
import { type Database, transact } from '../db/transaction.ts';
import { failingStates, ofFeed, type Feed, type FeedState } from '../lists/feed.ts';
import type { RunRow } from '../lists/tables.ts';

/** What a feed was before it recovered. */
export interface Recovered {
  readonly was: FeedState;
  readonly reason: string | null;
}

const failing = sql`any(${sql.param(failingStates)}::text[])`;

/**
 * Notes that a slice works on a feed's run, unless another worker has ended it meanwhile. A failing
 * feed keeps its state until something succeeded: a try is no success.
 *
 * @returns whether it is failing
 */
export async function beginWork(db: Database, run: RunRow): Promise<boolean> {
  if (run.stopped_at !== null) {
    await db.execute(sql`update etl.runs set stopped_at = null where id = ${run.id}`);
  }
  const { rows } = await db.execute<{ failing: boolean }>(sql`
    with work as (
      update etl.feeds set state = 'running', failure = null, reason = null, updated_at = now()
      where ${ofFeed(run)} and state <> 'running' and not state = ${failing}
        and exists (select from etl.runs where id = ${run.id} and state = 'open')
    )
    select state = ${failing} as failing from etl.feeds where ${ofFeed(run)}
  `);
  return rows[0]?.failing ?? false;
}

/**
 * Ends the failure of a feed after one of its runs succeeded, unless another of its runs is still
 * failing: of two lanes, one that goes well does not hide one that doesn't.
 *
 * @returns null when the feed is not failing, or still is
 */
export async function recover(db: Database, run: RunRow): Promise<Recovered | null> {
  return transact(db, async (tx) => {
    // The feed before its run, as whoever opens a run locks them.
    const { rows } = await tx.execute<{ was: FeedState; reason: string | null }>(sql`
      with before as (
        select state, reason from etl.feeds where ${ofFeed(run)} for no key update
      )
      update etl.feeds
      set state = 'running', failure = null, reason = null, poll_again_at = null, updated_at = now()
      from before
      where ${ofFeed(run)}
        and before.state = ${failing}
        and not exists (
          select from etl.runs
          where ${ofFeed(run)} and state = 'open' and id <> ${run.id} and failures_in_a_row > 0
        )
      returning before.state as was, before.reason
    `);
    await tx.execute(
      sql`update etl.runs set failures_in_a_row = 0 where id = ${run.id} and failures_in_a_row > 0`,
    );
    return rows[0] ?? null;
  });
}

/** Keeps schedules from looking at a feed before so many ms have passed. */
export async function pollLater(db: Database, feed: Feed, afterMs: number): Promise<void> {
  await db.execute(sql`
    update etl.feeds
    set poll_again_at = now() + make_interval(secs => ${afterMs / 1000}::float8)
    where ${ofFeed(feed)}
  `);
}

/** Whether schedules are not to look at a feed yet. */
export async function isPolledLater(db: Database, feed: Feed): Promise<boolean> {
  const { rows } = await db.execute(sql`
    select from etl.feeds
    where ${ofFeed(feed)} and poll_again_at > now()
  `);
  return rows.length > 0;
}
