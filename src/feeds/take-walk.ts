import { sql } from 'drizzle-orm';
import type { Database, Transaction } from '../db/transaction.ts';
import type { Operation, Scope } from '../operations/operation.ts';
import type { WalkRow } from '../walk/walk-row.ts';
import type { TickRow } from './tick.ts';

/**
 * Takes the tick's next walk for this worker: one that was begun and not ended, or a new one.
 * Taking raises the revision, which fences whoever held the walk before.
 *
 * @param held walks that this worker is on already
 * @returns null when the tick has nothing left to begin
 */
export async function takeWalk(
  db: Database,
  tick: TickRow,
  kind: Operation<never>['kind'],
  held: readonly number[],
): Promise<WalkRow | null> {
  return db.transaction(async (tx) => {
    // Waits for whoever takes one now: a walk that it begins is to be resumed, not begun twice.
    await tx.execute(sql`select from etl.ticks where id = ${tick.id} for update`);
    const resumed = await resumeWalk(tx, tick, held);
    if (resumed !== null) return resumed;
    const scope = kind === 'batch' ? await nextBatch(tx, tick) : await wholeList(tx, tick);
    return scope === null ? null : beginWalk(tx, tick, kind, scope);
  });
}

async function resumeWalk(
  tx: Transaction,
  tick: TickRow,
  held: readonly number[],
): Promise<WalkRow | null> {
  const { rows } = await tx.execute<{ walk: WalkRow }>(sql`
    update etl.walks
    set revision = revision + 1
    where id = (
      select id from etl.walks
      where tick_id = ${tick.id} and state = 'running' and id <> all(${sql.param(held)}::bigint[])
      order by id
      limit 1
      for update
    )
    returning to_jsonb(walks) as walk
  `);
  return rows[0]?.walk ?? null;
}

/** The tick's next batch number, from the newest down; null below the last. */
async function nextBatch(tx: Transaction, tick: TickRow): Promise<Scope | null> {
  const { rows } = await tx.execute<{ batch: string }>(sql`
    update etl.ticks
    set next_batch = next_batch - 1
    where id = ${tick.id} and state = 'open' and next_batch >= ${tick.scope.from_batch ?? 1}
    returning next_batch + 1 as batch
  `);
  return rows[0] === undefined ? null : { batch: Number(rows[0].batch) };
}

/** A list is one walk: nothing is left to begin once the tick has one. */
async function wholeList(tx: Transaction, tick: TickRow): Promise<Scope | null> {
  const { rows } = await tx.execute(sql`
    select from etl.ticks
    where id = ${tick.id} and state = 'open'
      and not exists (select from etl.walks where tick_id = ${tick.id})
  `);
  const { since, max_pages } = tick.scope;
  if (rows.length === 0) return null;
  return { ...(since !== undefined && { since }), ...(max_pages !== undefined && { max_pages }) };
}

async function beginWalk(
  tx: Transaction,
  tick: TickRow,
  kind: Operation<never>['kind'],
  scope: Scope,
): Promise<WalkRow | null> {
  const { rows } = await tx.execute<{ walk: WalkRow }>(sql`
    insert into etl.walks (chain_id, operation, lane, tick_id, kind, scope)
    values (${tick.chain_id}, ${tick.operation}, ${tick.lane}, ${tick.id}, ${kind},
            ${JSON.stringify(scope)}::jsonb)
    returning to_jsonb(walks) as walk
  `);
  return rows[0]?.walk ?? null;
}

/** Ends a walk that can't go on; its rows stay. */
export async function endWalk(
  db: Database,
  walk: WalkRow,
  state: 'failed' | 'abandoned',
  reason: string,
): Promise<void> {
  await db.execute(sql`
    update etl.walks
    set state = ${state}, reason = ${reason}, revision = revision + 1,
        updated_at = now(), finished_at = now()
    where id = ${walk.id} and state = 'running'
  `);
}

/** Why walks of a tick failed, each reason once. */
export async function walkFailures(db: Database, tick: TickRow): Promise<string[]> {
  const { rows } = await db.execute<{ reason: string }>(sql`
    select distinct reason from etl.walks
    where tick_id = ${tick.id} and state in ('failed', 'abandoned') and reason is not null
    order by reason
    limit 10
  `);
  return rows.map(({ reason }) => reason);
}

/** Whether the tick has a walk that was begun and not ended. */
export async function hasRunningWalk(db: Database, tick: TickRow): Promise<boolean> {
  const { rows } = await db.execute(
    sql`select from etl.walks where tick_id = ${tick.id} and state = 'running' limit 1`,
  );
  return rows.length > 0;
}
