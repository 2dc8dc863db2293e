import { sql } from 'drizzle-orm';
import { type Database, transact, type Transaction } from '../db/transaction.ts';
import type { FailureClass, Why } from '../failure.ts';
import { ofFeed } from '../lists/feed.ts';
import { kindOf } from '../lists/index.ts';
import { operations } from '../lists/registry.ts';
import type { PlannedWalk } from '../lists/list.ts';
import type { HeldWalk, RunRow, WalkRow } from '../lists/tables.ts';
import { isSourceMismatch } from './feeds.ts';

/** Who takes a walk, and when. */
interface Taker {
  /** Walks that this worker is on already. */
  readonly held: readonly number[];
  /** The time that a new walk begins. */
  readonly at: Date;
  /** Where this process requests pages. */
  readonly origin: string;
}

/**
 * Takes the run's next walk for this worker: one that was begun and not ended, or a new one.
 * Taking raises the revision, which fences the worker that held the walk before.
 *
 * @returns null when the run has nothing left to begin, 'wait' when that depends on a walk under way,
 *   'source-mismatch' when the feed is read from another explorer than this process requests
 */
export async function takeWalk(
  db: Database,
  run: RunRow,
  { held, at, origin }: Taker,
): Promise<HeldWalk | 'wait' | 'source-mismatch' | null> {
  return transact(db, async (tx) => {
    // Waits for a worker that takes one now: a walk that it begins is to be resumed, not begun twice.
    // The feed before its run, in the order in which opening a run locks them.
    const { rows: feeds } = await tx.execute<{ is_mismatch: boolean }>(sql`
      select ${isSourceMismatch(origin)} as is_mismatch from etl.feeds
      where ${ofFeed(run)}
      for no key update
    `);
    if (feeds[0]?.is_mismatch === true) return 'source-mismatch';
    const { rows } = await tx.execute(
      sql`select from etl.runs where id = ${run.id} and state = 'open' for update`,
    );
    if (rows.length === 0) return null;
    const resumed = await resumeWalk(tx, run, held);
    if (resumed !== null) return resumed;
    const planned = await kindOf(run.operation).nextWalk(tx, run, at);
    if (planned === null || planned === 'wait') return planned;
    const begun = await beginWalk(tx, run, planned, at);
    // The slice resumes them.
    for (const walk of planned.beside ?? []) await beginWalk(tx, run, walk, at);
    return begun;
  });
}

async function resumeWalk(
  tx: Transaction,
  run: RunRow,
  held: readonly number[],
): Promise<HeldWalk | null> {
  const { rows } = await tx.execute<{ walk: HeldWalk }>(sql`
    update etl.walks
    set revision = revision + 1
    where id = (
      select id from etl.walks
      where run_id = ${run.id} and state = 'running' and id <> all(${sql.param(held)}::bigint[])
      order by id
      limit 1
      for update
    )
    returning to_jsonb(walks) || jsonb_build_object('incarnation', etl.incarnation()) as walk
  `);
  return rows[0]?.walk ?? null;
}

async function beginWalk(
  tx: Transaction,
  run: RunRow,
  { scope, floor, depthMs, cursor }: PlannedWalk,
  at: Date,
): Promise<HeldWalk | null> {
  const { rows } = await tx.execute<{ walk: HeldWalk }>(sql`
    insert into etl.walks (chain_id, operation, lane, run_id, kind, scope, floor, depth_ms, cursor, from_head, started_at)
    values (${run.chain_id}, ${run.operation}, ${run.lane}, ${run.id},
            ${operations[run.operation].kind},
            ${JSON.stringify(scope)}::jsonb, ${floor}::bigint, ${depthMs ?? null}::bigint,
            ${cursor === null ? null : JSON.stringify(cursor)}::jsonb, ${cursor === null}, ${at.toISOString()}::timestamptz)
    returning to_jsonb(walks) || jsonb_build_object('incarnation', etl.incarnation()) as walk
  `);
  return rows[0]?.walk ?? null;
}

/**
 * Ends a walk that can't go on; its rows stay. Only for who holds it: another one may be on its way with it.
 *
 * @param only `entering`: if it was to enter the list at a synthetic cursor and has not arrived; the list is read
 *   without it
 * @returns whether it was such a walk, and still this worker's
 */
export async function endWalk(
  db: Database,
  { id, revision }: WalkRow,
  state: 'failed' | 'abandoned',
  why: Why,
  only: 'entering' | 'any' = 'any',
): Promise<boolean> {
  const { rows } = await db.execute(sql`
    update etl.walks
    set state = ${state}, failure = ${why.failure}, reason = ${why.reason}, revision = revision + 1,
        updated_at = now(), finished_at = now()
    where id = ${id} and revision = ${revision} and state = 'running'
      and (${only} = 'any' or (scope ? 'entry' and pages = 0))
    returning id
  `);
  return rows.length > 0;
}

/**
 * Why walks of a run failed, each reason once; one that was read again from the beginning did not, nor one
 * that was to enter at a synthetic cursor and never arrived: what it was to read is read otherwise.
 */
export async function walkFailures(db: Database, run: RunRow): Promise<Why[]> {
  const { rows } = await db.execute<{ failure: FailureClass | null; reason: string }>(sql`
    select distinct failure, reason from etl.walks
    where run_id = ${run.id} and state in ('failed', 'abandoned')
      and failure is distinct from 'truncated'
      and not (scope ? 'entry' and pages = 0)
    order by reason
    limit 10
  `);
  return rows;
}

/** Whether the run has a walk that was begun and not ended. */
export async function hasRunningWalk(db: Database, run: RunRow): Promise<boolean> {
  const { rows } = await db.execute(
    sql`select from etl.walks where run_id = ${run.id} and state = 'running' limit 1`,
  );
  return rows.length > 0;
}

/** Whether a walk of the run met pages that broke the list's order. */
export async function brokenOrder(tx: Transaction, run: RunRow): Promise<boolean> {
  const { rows } = await tx.execute(
    sql`select from etl.walks where run_id = ${run.id} and not is_ordered limit 1`,
  );
  return rows.length > 0;
}
