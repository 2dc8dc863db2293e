import { sql, type SQL } from 'drizzle-orm';
import { execute, type Database, transact, type Transaction } from '../db/transaction.ts';
import { type Why, whyShape } from '../failure.ts';
import type { Trouble } from '../explorer/host.ts';
import { type Feed, type FeedLane, feedName, laneName, ofFeed, ofLane } from '../lists/feed.ts';
import { kindOf } from '../lists/index.ts';
import type { PlannedWalk } from '../lists/list.ts';
import { operations } from '../lists/registry.ts';
import {
  type HeldWalk,
  type Lane,
  type RunRow,
  type RunScope,
  type WalkRow,
  runs,
  heldWalkShape,
} from '../lists/tables.ts';
import { workersPresent } from './workers.ts';
import { z } from 'zod';
import { rowOf } from '../db/column-types.ts';

/** A run that is open now; joined if it was begun before, so that part of it may be old. */
export interface OpenedRun {
  readonly id: number;
  readonly isJoined: boolean;
}

/**
 * Opens a run for a feed's lane, or joins the open or interrupted one of the same scope; `at_once` of either applies to it.
 * An open run of another scope is superseded; or, if `onOther` is `yield`, nothing is opened: a person's request goes first.
 */
export async function openRun(
  tx: Transaction,
  lane: FeedLane,
  scope: RunScope,
  onOther: 'supersede' | 'yield' = 'supersede',
): Promise<OpenedRun | null> {
  const wanted = JSON.stringify(scope);
  await tx.execute(sql`
    insert into etl.lanes (feed, lane) values (${feedName(lane)}, ${lane.lane})
    on conflict (feed, lane) do update set lane = excluded.lane
  `);
  await lockFeed(tx, lane);
  const others = sql`${ofLane(lane)} and not ${sameScope(wanted)}`;
  const open = sql`select from etl.runs where ${others} and state = 'open'`;
  if (onOther === 'yield' && (await execute(tx).has`${open}`)) return null;
  await kindOf(lane.operation).noteTarget(tx, lane, [scope], 'add');
  await supersede(tx, others);
  const joined = await execute(tx).value(z.string)`
      update etl.runs
      set state = 'open', failure = null, reason = null, closed_at = null,
          scope = scope || ${wanted}::jsonb,
          failures_in_a_row = case when state = 'open' then failures_in_a_row else 0 end
      where id = (
        select id from etl.runs
        where ${ofLane(lane)} and ${sameScope(wanted)} and state in ('open', 'interrupted')
        order by id desc
        limit 1
      )
      returning id
    `;
  if (joined !== null) return { id: Number(joined), isJoined: true };
  const opened = await execute(tx).value(z.string)`
      insert into etl.runs (chain_id, operation, lane, scope)
      values (${lane.chain_id}, ${lane.operation}, ${lane.lane}, ${wanted}::jsonb)
      returning id
    `;
  return { id: Number(opened), isJoined: false };
}

/** Keeps other runs of the feed from being opened or taken meanwhile. References to it go on. */
export async function lockFeed(tx: Transaction, feed: Feed): Promise<void> {
  await tx.execute(sql`select from etl.feeds where ${ofFeed(feed)} for no key update`);
}

/** As SQL: whether a run covers the same; urgency makes no other run. */
const sameScope = (wanted: string) => sql`(scope - 'at_once' = ${wanted}::jsonb - 'at_once')`;

/** Closes runs that are open or interrupted; their unfinished walks come to rest. */
async function supersede(tx: Transaction, which: SQL): Promise<void> {
  await tx.execute(sql`
    with superseded as (
      update etl.runs
      set state = 'superseded', closed_at = now()
      where ${which} and state in ('open', 'interrupted')
      returning id
    )
    update etl.walks
    set state = 'abandoned', reason = 'superseded', revision = revision + 1, finished_at = now()
    from superseded
    where run_id = superseded.id and walks.state = 'running'
  `);
}

/** Supersedes a lane's runs of this scope, or all. What was read stays. A feed that has no other run open is at rest. */
export async function dropRuns(
  tx: Transaction,
  lane: FeedLane,
  scope: RunScope | null,
): Promise<void> {
  await lockFeed(tx, lane);
  const those = scope === null ? sql`true` : sameScope(JSON.stringify(scope));
  await supersede(tx, sql`${ofLane(lane)} and ${those}`);
  await tx.execute(sql`
    update etl.lanes set due_at = null, stopped_at = null
    where ${ofLane(lane)} and not exists (select from etl.runs where ${ofLane(lane)} and state = 'open')
  `);
  await tx.execute(sql`
    update etl.feeds
    set failure = null, reason = null, updated_at = now()
    where ${ofFeed(lane)} and reason is not null
      and not exists (select from etl.runs where ${ofFeed(lane)} and state = 'open')
  `);
}

/** A lane's open run. */
export const currentRun = (db: Pick<Database, 'execute'>, lane: FeedLane) =>
  execute(db).value(() => rowOf(runs))`
    select to_jsonb(runs) as run from etl.runs where ${ofLane(lane)} and state = 'open'
  `;

/** Notes that runs wait because a process was stopped, not killed, unless others go on with them. Taking a lane clears the note. */
export async function noteStopped(
  db: Pick<Database, 'execute'>,
  which: readonly FeedLane[] | 'all',
) {
  const named = which === 'all' ? null : sql.param(which.map(laneName));
  await db.execute(sql`
    update etl.lanes set stopped_at = clock_timestamp(), due_at = null
    where worker is null and due_at is not null
      and (${named}::text[] is null or feed || '/' || lane = any(${named}::text[]))
      -- A start goes on with every lane, a command with its own.
      and not exists (
        select from (${workersPresent}) as present where kind = 'start' or ${named}::text[] is null
      )
  `);
}

/** Has a `start` at work poll lanes that a command gave up: their next time may be a day away. */
export async function leaveToStart(db: Database, lanes: readonly FeedLane[]): Promise<void> {
  await db.execute(sql`
    update etl.lanes set next_due_at = least(next_due_at, clock_timestamp())
    where feed || '/' || lane = any(${sql.param(lanes.map(laneName))}::text[])
      and next_due_at is not null
      and exists (select from (${workersPresent}) as present where kind = 'start')
  `);
}

/** Closes a run, if it is still open, and notes its success on the feed. */
export async function closeRun(
  db: Pick<Database, 'execute'>,
  run: RunRow,
  state: 'finished' | 'failed' | 'interrupted',
  why: Why | null,
): Promise<void> {
  const { failure = null, reason = null } = why ?? {};
  await db.execute(sql`
    with closed as (
      update etl.runs
      set state = ${state}, failure = ${failure}, reason = ${reason}, closed_at = now()
      where id = ${run.id} and state = 'open'
      returning feed
    )
    update etl.feeds set last_success_at = now()
    from closed
    where feeds.feed = closed.feed and ${state} = 'finished'
  `);
}

/** Notes why an open run waits although its feed does not fail. */
export async function noteReason(db: Database, run: RunRow, { failure, reason }: Why) {
  await db.execute(sql`
    update etl.runs set failure = ${failure}, reason = ${reason}
    where id = ${run.id} and state = 'open'
  `);
}

/** Adds to an open run what kept a request from being answered. */
export async function noteTrouble(
  db: Database,
  { chainId, operation, lane }: { chainId: number; operation: string; lane: Lane },
  { failed, reason, waitedMs }: Trouble,
): Promise<void> {
  await db.execute(sql`
    update etl.runs
    set failed_requests = failed_requests + ${failed}, waited_ms = waited_ms + ${waitedMs},
        first_failure = coalesce(first_failure, ${reason})
    where feed = ${`${chainId}/${operation}`} and lane = ${lane} and state = 'open'
  `);
}

/** Counts failures in a row; a slice that committed a page starts at one. */
export async function countFailure(
  db: Database,
  run: RunRow,
  madeProgress: boolean,
  reason: string,
): Promise<number> {
  const failures = await execute(db).value(z.number)`
    update etl.runs
    set failures_in_a_row = case when ${madeProgress} then 1 else failures_in_a_row + 1 end,
        first_failure = coalesce(first_failure, ${reason})
    where id = ${run.id}
    returning failures_in_a_row
  `;
  return failures ?? 1;
}

/**
 * Takes the run's next walk: one that was begun, not ended and is not `held` already, or a new one that begins `at`.
 * Raising the revision fences the last worker. `origin`: where this process requests pages.
 * @returns null when the run has nothing left to begin, 'wait' when that depends on a walk under way,
 *   'source-mismatch' when the feed is read from another explorer than this process requests
 */
export async function takeWalk(
  db: Database,
  run: RunRow,
  { held, at, origin }: Readonly<{ held: readonly number[]; at: Date; origin: string }>,
): Promise<HeldWalk | 'wait' | 'source-mismatch' | null> {
  return transact(db, async (tx) => {
    // Waits for a worker that takes one now: a walk that it begins is to be resumed, not begun twice.
    // The feed before its run, in the order in which opening a run locks them.
    const recorded = await execute(tx).value(z.string)`
      select origin from etl.feeds where ${ofFeed(run)} for no key update
    `;
    // No explorer is recorded before the first page of a feed.
    if (recorded !== null && recorded !== origin) return 'source-mismatch';
    const isOpen = sql`id = ${run.id} and state = 'open'`;
    if (!(await execute(tx).has`select from etl.runs where ${isOpen} for update`)) return null;
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

const resumeWalk = (tx: Transaction, run: RunRow, held: readonly number[]) =>
  execute(tx).value(heldWalkShape)`
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
  `;

const beginWalk = (
  tx: Transaction,
  run: RunRow,
  { scope, floor, depthMs, cursor }: PlannedWalk,
  at: Date,
) =>
  execute(tx).value(heldWalkShape)`
    insert into etl.walks (chain_id, operation, lane, run_id, kind, scope, floor, depth_ms, cursor, from_head, started_at, as_of)
    values (${run.chain_id}, ${run.operation}, ${run.lane}, ${run.id},
            ${operations[run.operation].kind},
            ${JSON.stringify(scope)}::jsonb, ${floor}::bigint, ${depthMs ?? null}::bigint,
            ${cursor === null ? null : JSON.stringify(cursor)}::jsonb, ${cursor === null}, ${at.toISOString()}::timestamptz, least(${at.toISOString()}::timestamptz, now()))
    returning to_jsonb(walks) || jsonb_build_object('incarnation', etl.incarnation()) as walk
  `;

/**
 * Ends a walk that can't continue, if this worker still holds it; its rows stay.
 * @param only `entering`: only if it has not arrived at its synthetic cursor; the list is read without it
 */
export const endWalk = (
  db: Database,
  { id, revision }: WalkRow,
  state: 'failed' | 'abandoned',
  why: Why,
  only: 'entering' | 'any' = 'any',
) =>
  execute(db).has`
    update etl.walks
    set state = ${state}, failure = ${why.failure}, reason = ${why.reason}, revision = revision + 1,
        updated_at = now(), finished_at = now()
    where id = ${id} and revision = ${revision} and state = 'running'
      and (${only} = 'any' or (scope ? 'entry' and pages = 0))
    returning id
  `;

/**
 * How a run's walks ended; null: it goes on, or was closed meanwhile. Not failed: a truncated walk that was repeated, and one
 * that never arrived at its synthetic cursor, because other walks read its range.
 */
export function endOfRun(tx: Transaction, run: RunRow) {
  const walks = sql`select from etl.walks where run_id = ${run.id}`;
  return execute(tx).row(() =>
    z.object({
      /** Why walks failed, each reason once. */
      failures: z.array(whyShape()),
      is_ordered: z.boolean(),
      /** Whether other runs of the feed fail: its state is then theirs. */
      others_failing: z.boolean(),
    }),
  )`
    select (
      select coalesce(json_agg(failed), '[]') from (
        select distinct failure, reason from etl.walks
        where run_id = ${run.id} and state in ('failed', 'abandoned')
          and failure is distinct from 'truncated'
          and not (scope ? 'entry' and pages = 0)
        order by reason
        limit 10
      ) as failed
    ) as failures,
      not exists (${walks} and not is_ordered) as is_ordered,
      coalesce(bool_or(failures_in_a_row > 0), false) as others_failing
    from etl.runs
    where ${ofFeed(run)} and state = 'open' and id <> ${run.id}
    having not exists (${walks} and state = 'running')
      and exists (select from etl.runs where id = ${run.id} and state = 'open')
  `;
}
