import { sql, type SQL } from 'drizzle-orm';
import { type Database, transact, type Transaction } from '../db/transaction.ts';
import { kindOf } from '../lists/index.ts';
import type { Why } from '../failure.ts';
import type { FeedLane } from '../lists/feed.ts';
import type { TickRow, TickScope } from '../lists/tables.ts';

/** A tick that is open now; joined if it was begun before, so that part of it may be old. */
export interface OpenedTick {
  readonly id: number;
  readonly isJoined: boolean;
}

const sameLane = ({ chain_id, operation, lane }: FeedLane) =>
  sql`chain_id = ${chain_id} and operation = ${operation} and lane = ${lane}`;

/**
 * Opens a tick for a feed's lane, or joins the one that is open or was interrupted with the same
 * scope, so that a second `sync` resumes the first and ticks never pile up; what is to be read at once
 * by one of the two is then. An open tick of another
 * scope is set aside, and its unfinished walks with it; or, where `onOther` says yield, nothing is
 * opened and null returned: what a person asked for goes before what a schedule does.
 */
export async function openTick(
  db: Database,
  lane: FeedLane,
  scope: TickScope,
  onOther: 'supersede' | 'yield' = 'supersede',
): Promise<OpenedTick | null> {
  const wanted = JSON.stringify(scope);
  return transact(db, async (tx) => {
    await tx.execute(
      sql`select from etl.feeds where chain_id = ${lane.chain_id} and operation = ${lane.operation} for update`,
    );
    if (onOther === 'yield' && (await hasOpenOther(tx, lane, wanted))) return null;
    await kindOf(lane.operation).noteAsked(tx, lane, scope);
    await supersedeOthers(tx, lane, wanted);
    const { rows: joined } = await tx.execute<{ id: string }>(sql`
      update etl.ticks
      set state = 'open', failure = null, reason = null, closed_at = null, scope = scope || ${wanted}::jsonb,
          troubles = case when state = 'open' then troubles else 0 end
      where id = (
        select id from etl.ticks
        where ${sameLane(lane)} and ${sameScope(wanted)} and state in ('open', 'interrupted')
        order by id desc
        limit 1
      )
      returning id
    `);
    if (joined[0] !== undefined) return { id: Number(joined[0].id), isJoined: true };
    const { rows } = await tx.execute<{ id: string }>(sql`
      insert into etl.ticks (chain_id, operation, lane, scope)
      values (${lane.chain_id}, ${lane.operation}, ${lane.lane}, ${wanted}::jsonb)
      returning id
    `);
    return { id: Number(rows[0]?.id), isJoined: false };
  });
}

/** As SQL: whether a tick covers the same; how urgently does not tell ticks apart. */
const sameScope = (wanted: string) => sql`(scope - 'at_once' = ${wanted}::jsonb - 'at_once')`;

async function hasOpenOther(tx: Transaction, lane: FeedLane, wanted: string): Promise<boolean> {
  const { rows } = await tx.execute(sql`
    select from etl.ticks
    where ${sameLane(lane)} and state = 'open' and not ${sameScope(wanted)}
  `);
  return rows.length > 0;
}

async function supersedeOthers(tx: Transaction, lane: FeedLane, wanted: string): Promise<void> {
  await supersede(tx, sql`${sameLane(lane)} and not ${sameScope(wanted)}`);
}

/** Closes ticks that are open or interrupted; their unfinished walks come to rest. */
async function supersede(tx: Transaction, which: SQL): Promise<void> {
  await tx.execute(sql`
    with superseded as (
      update etl.ticks
      set state = 'superseded', closed_at = now()
      where ${which} and state in ('open', 'interrupted')
      returning id
    )
    update etl.walks
    set state = 'abandoned', reason = 'superseded', revision = revision + 1, finished_at = now()
    from superseded
    where tick_id = superseded.id and walks.state = 'running'
  `);
}

/**
 * Sets a lane's tick of this scope aside: its schedule is gone or covers something else now. What
 * was read stays. A feed that has no other tick open is at rest.
 */
export async function dropTick(db: Database, lane: FeedLane, scope: TickScope): Promise<void> {
  await transact(db, async (tx) => {
    const ofFeed = sql`chain_id = ${lane.chain_id} and operation = ${lane.operation}`;
    await tx.execute(sql`select from etl.feeds where ${ofFeed} for update`);
    await supersede(tx, sql`${sameLane(lane)} and ${sameScope(JSON.stringify(scope))}`);
    await tx.execute(sql`
      update etl.feeds
      set state = 'idle', failure = null, reason = null, updated_at = now()
      where ${ofFeed} and state <> 'idle'
        and not exists (select from etl.ticks where ${ofFeed} and state = 'open')
    `);
  });
}

/** The tick that a lane's job is to work on; null when there is none. */
export async function currentTick(
  db: Pick<Database, 'execute'>,
  lane: FeedLane,
): Promise<TickRow | null> {
  const { rows } = await db.execute<{ tick: TickRow }>(sql`
    select to_jsonb(ticks) as tick from etl.ticks where ${sameLane(lane)} and state = 'open'
  `);
  return rows[0]?.tick ?? null;
}

/** Closes a tick, if it is still open, and notes its success on the feed. */
export async function closeTick(
  db: Pick<Database, 'execute'>,
  tick: TickRow,
  state: 'finished' | 'failed' | 'interrupted',
  why: Why | null,
): Promise<void> {
  const { failure = null, reason = null } = why ?? {};
  await db.execute(sql`
    with closed as (
      update etl.ticks
      set state = ${state}, failure = ${failure}, reason = ${reason}, closed_at = now()
      where id = ${tick.id} and state = 'open'
      returning chain_id, operation
    )
    update etl.feeds
    set last_success_at = now()
    from closed
    where ${state} = 'finished'
      and feeds.chain_id = closed.chain_id
      and feeds.operation = closed.operation
  `);
}

/** Counts troubles in a row; a slice that committed a page starts anew. */
export async function countTrouble(
  db: Database,
  tick: TickRow,
  madeProgress: boolean,
): Promise<number> {
  const { rows } = await db.execute<{ troubles: number }>(sql`
    update etl.ticks set troubles = case when ${madeProgress} then 1 else troubles + 1 end
    where id = ${tick.id}
    returning troubles
  `);
  return rows[0]?.troubles ?? 1;
}

/** Whether another lane of the tick's feed has a tick open too. */
export async function hasOtherOpenTick(db: Database, tick: TickRow): Promise<boolean> {
  const { rows } = await db.execute(sql`
    select from etl.ticks
    where chain_id = ${tick.chain_id}
      and operation = ${tick.operation}
      and state = 'open'
      and id <> ${tick.id}
  `);
  return rows.length > 0;
}

/** Whether another open tick of the feed is in trouble: its state stands until that one succeeds. */
export async function hasTroubledOther(
  db: Pick<Database, 'execute'>,
  tick: TickRow,
): Promise<boolean> {
  const { rows } = await db.execute(sql`
    select from etl.ticks
    where chain_id = ${tick.chain_id}
      and operation = ${tick.operation}
      and state = 'open'
      and troubles > 0
      and id <> ${tick.id}
  `);
  return rows.length > 0;
}

export type TickResult = Pick<TickRow, 'id' | 'state' | 'failure' | 'reason'>;

export async function tickResults(db: Database, ids: readonly number[]): Promise<TickResult[]> {
  const { rows } = await db.execute<Omit<TickResult, 'id'> & { id: string }>(
    sql`select id, state, failure, reason from etl.ticks where id = any(${sql.param(ids)}::bigint[])`,
  );
  return rows.map((row) => ({ ...row, id: Number(row.id) }));
}

/**
 * How many items in quarantine each tick's pages served last; a tick without any is left out. An item
 * that was there already, and was served again as it is, counts.
 */
export async function quarantinedBy(
  db: Database,
  ids: readonly number[],
): Promise<ReadonlyMap<number, number>> {
  const { rows } = await db.execute<{ id: string; items: number }>(sql`
    select tick_id as id, count(*)::int as items
    from etl.quarantine
    join etl.pages on pages.id = coalesce(last_page_id, page_id)
    join etl.walks on walks.id = walk_id
    where tick_id = any(${sql.param(ids)}::bigint[])
    group by tick_id
  `);
  return new Map(rows.map(({ id, items }) => [Number(id), items]));
}
