import { sql, type SQL } from 'drizzle-orm';
import { type Database, transact, type Transaction } from '../db/transaction.ts';
import { creditsPerRequest } from '../explorer/slot.ts';
import type { Why } from '../failure.ts';
import { type Feed, type FeedLane, ofFeed, ofLane } from '../lists/feed.ts';
import { kindOf } from '../lists/index.ts';
import type { RunRow, RunScope } from '../lists/tables.ts';

/** A run that is open now; joined if it was begun before, so that part of it may be old. */
export interface OpenedRun {
  readonly id: number;
  readonly isJoined: boolean;
}

/**
 * Opens a run for a feed's lane, or joins the one that is open or was interrupted with the same
 * scope, so that a second `sync` resumes the first and runs never pile up; what is to be read at once
 * by one of the two is then. An open run of another
 * scope is superseded, and its unfinished walks with it; or, if `onOther` says yield, nothing is
 * opened and null returned: what a person requests goes before what a schedule does.
 */
export async function openRun(
  db: Database,
  lane: FeedLane,
  scope: RunScope,
  onOther: 'supersede' | 'yield' = 'supersede',
): Promise<OpenedRun | null> {
  const wanted = JSON.stringify(scope);
  return transact(db, async (tx) => {
    await lockFeed(tx, lane);
    if (onOther === 'yield' && (await hasOpenOther(tx, lane, wanted))) return null;
    await kindOf(lane.operation).noteTarget(tx, lane, scope);
    await supersede(tx, sql`${ofLane(lane)} and not ${sameScope(wanted)}`);
    const { rows: joined } = await tx.execute<{ id: string }>(sql`
      update etl.runs
      set state = 'open', failure = null, reason = null, closed_at = null, stopped_at = null,
          taken_up_at = case when state = 'open' then taken_up_at end,
          due_at = case when state = 'open' and due_at is not null then due_at else clock_timestamp() end,
          scope = scope || ${wanted}::jsonb,
          failures_in_a_row = case when state = 'open' then failures_in_a_row else 0 end
      where id = (
        select id from etl.runs
        where ${ofLane(lane)} and ${sameScope(wanted)} and state in ('open', 'interrupted')
        order by id desc
        limit 1
      )
      returning id
    `);
    if (joined[0] !== undefined) return { id: Number(joined[0].id), isJoined: true };
    const { rows } = await tx.execute<{ id: string }>(sql`
      insert into etl.runs (chain_id, operation, lane, scope)
      values (${lane.chain_id}, ${lane.operation}, ${lane.lane}, ${wanted}::jsonb)
      returning id
    `);
    return { id: Number(rows[0]?.id), isJoined: false };
  });
}

/** Keeps other runs of the feed from being opened or taken meanwhile. References to it go on. */
export async function lockFeed(tx: Transaction, feed: Feed): Promise<void> {
  await tx.execute(sql`select from etl.feeds where ${ofFeed(feed)} for no key update`);
}

/** As SQL: whether a run covers the same; urgency makes no other run. */
const sameScope = (wanted: string) => sql`(scope - 'at_once' = ${wanted}::jsonb - 'at_once')`;

async function hasOpenOther(tx: Transaction, lane: FeedLane, wanted: string): Promise<boolean> {
  const { rows } = await tx.execute(sql`
    select from etl.runs
    where ${ofLane(lane)} and state = 'open' and not ${sameScope(wanted)}
  `);
  return rows.length > 0;
}

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

/**
 * Supersedes a lane's run of this scope: its schedule is gone or covers something else now. What
 * was read stays. A feed that has no other run open is at rest.
 */
export async function dropRun(db: Database, lane: FeedLane, scope: RunScope): Promise<void> {
  await transact(db, async (tx) => {
    await lockFeed(tx, lane);
    await supersede(tx, sql`${ofLane(lane)} and ${sameScope(JSON.stringify(scope))}`);
    await tx.execute(sql`
      update etl.feeds
      set state = 'idle', failure = null, reason = null, updated_at = now()
      where ${ofFeed(lane)} and state <> 'idle'
        and not exists (select from etl.runs where ${ofFeed(lane)} and state = 'open')
    `);
  });
}

/** The run that a lane's job is to work on; null when there is none. */
export async function currentRun(
  db: Pick<Database, 'execute'>,
  lane: FeedLane,
): Promise<RunRow | null> {
  const { rows } = await db.execute<{ run: RunRow }>(sql`
    select to_jsonb(runs) as run from etl.runs where ${ofLane(lane)} and state = 'open'
  `);
  return rows[0]?.run ?? null;
}

/**
 * Notes that a process let go of open runs because it was stopped: this separates them from those
 * of a process that was killed. Taking a run up clears the note.
 *
 * @param which those of a lane, those with these numbers, or all
 */
export async function noteStopped(
  db: Pick<Database, 'execute'>,
  which: FeedLane | readonly number[] | 'all',
): Promise<void> {
  await db.execute(sql`
    update etl.runs set stopped_at = now(), taken_up_at = null, due_at = null
    where state = 'open' and ${thoseOf(which)}
  `);
}

function thoseOf(which: FeedLane | readonly number[] | 'all'): SQL {
  if (which === 'all') return sql`true`;
  return 'lane' in which ? ofLane(which) : sql`id = any(${sql.param(which)}::bigint[])`;
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
    update etl.feeds
    set last_success_at = now()
    from closed
    where ${state} = 'finished' and feeds.feed = closed.feed
  `);
}

/** Counts failures in a row; a slice that committed a page starts at one. */
export async function countFailure(
  db: Database,
  run: RunRow,
  madeProgress: boolean,
): Promise<number> {
  const { rows } = await db.execute<{ failures_in_a_row: number }>(sql`
    update etl.runs set failures_in_a_row = case when ${madeProgress} then 1 else failures_in_a_row + 1 end
    where id = ${run.id}
    returning failures_in_a_row
  `);
  return rows[0]?.failures_in_a_row ?? 1;
}

/** Whether another run of the feed is open too; or failing: the feed's state stands until that one succeeds. */
export async function hasOtherRun(
  tx: Transaction,
  run: RunRow,
  which: 'open' | 'failing',
): Promise<boolean> {
  const { rows } = await tx.execute(sql`
    select from etl.runs
    where ${ofFeed(run)} and state = 'open' and id <> ${run.id}
      and (${which} = 'open' or failures_in_a_row > 0)
  `);
  return rows.length > 0;
}

export type RunResult = Pick<RunRow, 'id' | 'state' | 'failure' | 'reason'>;

export async function runResults(db: Database, ids: readonly number[]): Promise<RunResult[]> {
  const { rows } = await db.execute<Omit<RunResult, 'id'> & { id: string }>(
    sql`select id, state, failure, reason from etl.runs where id = any(${sql.param(ids)}::bigint[]) order by id`,
  );
  return rows.map((row) => ({ ...row, id: Number(row.id) }));
}

/** What the pages of a run show, whichever processes read them. */
export interface RunSums {
  /** Items in quarantine that its pages served last; one that was there already, and was served as it is, counts. */
  readonly quarantined: number;
  /** Ways in which its pages differ from the specification that no page had shown before. */
  readonly drift: number;
}

const nothing: RunSums = { quarantined: 0, drift: 0 };

/** The sums of runs. The pages that entries of a feed name are few: what differs, and what became no rows. */
export async function runSums(
  db: Pick<Database, 'execute'>,
  ids: readonly number[],
): Promise<ReadonlyMap<number, RunSums>> {
  const { rows } = await db.execute<{ id: string; sums: RunSums }>(sql`
    with noted as (
      select coalesce(last_page_id, page_id) as page_id, 1 as quarantined, 0 as drift
      from etl.quarantine
      union all
      select first_page_id, 0, 1 from etl.drift
    )
    select run_id as id,
           json_build_object('quarantined', sum(noted.quarantined), 'drift', sum(noted.drift)) as sums
    from noted
    join etl.pages on pages.id = noted.page_id
    join etl.walks on walks.id = walk_id
    where run_id = any(${sql.param(ids)}::bigint[])
    group by run_id
  `);
  return new Map(rows.map((row) => [Number(row.id), row.sums]));
}

/** What came to some sums since `before`; of what is noted, some may have been taken back meanwhile. */
export function sumsSince(sums: RunSums = nothing, before: RunSums = nothing): RunSums {
  return {
    quarantined: Math.max(0, sums.quarantined - before.quarantined),
    drift: Math.max(0, sums.drift - before.drift),
  };
}

/** What a run brought and cost, whichever workers and slices it was made of. */
export interface RunTotals {
  readonly added: number;
  readonly changed: number;
  readonly quarantined: number;
  readonly pages: number;
  readonly requests: number;
  readonly credits: number;
  /** From its opening to its end, or until now. */
  readonly seconds: number;
}

/** Adds up a run. Its walks are few. */
export async function runTotals(db: Pick<Database, 'execute'>, { id }: RunRow): Promise<RunTotals> {
  const { rows } = await db.execute<{ totals: Omit<RunTotals, 'requests'> }>(sql`
    with brought as (
      select coalesce(sum(inserted), 0) as added, coalesce(sum(changed), 0) as changed,
             coalesce(sum(quarantined), 0) as quarantined, coalesce(sum(pages), 0) as pages,
             coalesce(sum(credits), 0) as credits
      from etl.walks where run_id = ${id}
    )
    select json_build_object(
             'added', added, 'changed', changed, 'quarantined', quarantined, 'pages', pages,
             'credits', credits,
             'seconds', round(greatest(extract(epoch from coalesce(closed_at, now()) - opened_at), 0), 1)
           ) as totals
    from brought, etl.runs
    where id = ${id}
  `);
  const [row] = rows;
  if (row === undefined) throw new Error(`run ${id} is gone`);
  return { ...row.totals, requests: row.totals.credits / creditsPerRequest };
}
