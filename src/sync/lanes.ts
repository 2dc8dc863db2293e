import { isDeepStrictEqual } from 'node:util';
import { sql } from 'drizzle-orm';
import type { PgBoss } from 'pg-boss';
import { execute, type Database, transact, type Transaction } from '../db/transaction.ts';
import { errorOf } from '../failure.ts';
import { type FeedLane, feedName, laneName, ofLane } from '../lists/feed.ts';
import type { Target } from '../lists/list.ts';
import type { RunScope } from '../lists/tables.ts';
import { printable } from '../printable.ts';
import { atOnce, type ConfiguredLane, dueLanes, nextFiring, type RegisteredFeed } from './feeds.ts';
import { openLane, sendSlice } from './queue.ts';
import { dropRuns, openRunIn } from './runs.ts';
import { workersPresent } from './workers.ts';

// Who wants a lane, when it is due, and whether a person has paused it.

/** What a process wants of a database. */
export interface Wish {
  /** The deployment that its file describes; null: it has no file. */
  readonly deployment: string | null;
  /** Whether its file names all that the deployment wants; else what it wanted before stays wanted. */
  readonly isWhole: boolean;
  /** Whether feeds that others want become its own. */
  readonly takesOver: boolean;
}

/** A deployment that works now wants a feed with other settings. */
export class DeploymentError extends errorOf('other-deployment') {}

/** Settings that differ, of a feed that another deployment wants. */
interface Disagreement {
  readonly feed: string;
  readonly deployment: string;
  readonly settings: readonly string[];
}

/**
 * Refuses settings that differ from those of a deployment with a `start` at work: each would follow the other's. Those
 * of a command's bounds do not count.
 * @throws DeploymentError
 */
export async function demandAgreement(
  db: Database,
  feeds: readonly RegisteredFeed[],
  { deployment, takesOver }: Wish,
): Promise<void> {
  if (deployment === null || takesOver) return;
  const named = feeds.map((feed) => ({ feed: feedName(feed), settings: feed.settings }));
  const found = await execute(db).rows<Disagreement>`
    select feed, other as deployment, array_agg(distinct setting order by setting) as settings
    from json_to_recordset(${JSON.stringify(named)}::json) as named(feed text, settings jsonb)
    join etl.feeds as known using (feed)
    join etl.lanes using (feed), unnest(wanted_by) as other, lateral (
      select key as setting from jsonb_each(named.settings) as own(key, value)
      where value is distinct from known.settings -> key
        and not coalesce(known.target, '{}') ? key
    ) as differing
    where other <> ${deployment}
      and other in (select present.deployment from (${workersPresent}) as present where kind = 'start')
    group by feed, other
    order by feed, other
  `;
  if (found.length === 0) return;
  const lines = found.map(
    ({ feed, deployment: other, settings }) =>
      `${feed} is wanted by ${printable(other)} with another ${settings.join(', ')}`,
  );
  throw new DeploymentError(
    `${lines.join('; ')}. A start of that deployment is at work: use its settings, remove the feed from one of the files, or add --take-over to move it here.`,
  );
}

/**
 * Notes which lanes a deployment wants. Feeds that it wanted before and its file no longer names are at rest, unless
 * another deployment wants them: their open runs end, and what was read stays.
 */
export async function wantLanes(
  db: Database,
  lanes: readonly FeedLane[],
  { deployment, isWhole, takesOver }: Wish,
): Promise<void> {
  const named = lanes.map((lane) => ({ feed: feedName(lane), lane: lane.lane }));
  const wanted = sql`json_to_recordset(${JSON.stringify(named)}::json) as named(feed text, lane text)`;
  await transact(db, async (tx) => {
    await tx.execute(sql`
      insert into etl.lanes as t (feed, lane, wanted_by)
      select feed, lane, array_remove(array[${deployment}::text], null)
      from ${wanted}
      order by feed, lane
      on conflict (feed, lane) do update
      set wanted_by = case when ${takesOver} then excluded.wanted_by
                           else t.wanted_by || excluded.wanted_by end
      where not t.wanted_by @> excluded.wanted_by
        or (${takesOver} and excluded.wanted_by <> '{}' and t.wanted_by <> excluded.wanted_by)
    `);
    if (!isWhole || deployment === null) return;
    const left = await execute(tx).values<FeedLane>`
      with taken_back as (
        update etl.lanes set wanted_by = array_remove(wanted_by, ${deployment})
        where wanted_by @> array[${deployment}::text] and feed not in (select feed from ${wanted})
        returning feed, lane, wanted_by
      ), events as (
        insert into etl.events (kind, sentence)
        select 'config-changed', 'No file wants ' || string_agg(distinct feed, ', ') || ' any more.'
        from taken_back
        where wanted_by = '{}'
        having count(*) > 0
      )
      select json_build_object('chain_id', chain_id, 'operation', operation, 'lane', lane)
      from taken_back join etl.feeds using (feed)
      where wanted_by = '{}'
      order by feed, lane
    `;
    for (const lane of left) await retireLane(tx, lane);
  });
}

/** Ends what a lane does and is due to do. */
async function retireLane(tx: Transaction, lane: FeedLane): Promise<void> {
  await tx.execute(sql`
    update etl.lanes set next_due_at = null, requested_at = null, scope = null where ${ofLane(lane)}
  `);
  await dropRuns(tx, lane, null);
}

/**
 * Has `start` poll lanes by their schedules from now on. What was missed while no process worked is due at once, once.
 * Open runs that cover something else end.
 */
export async function scheduleLanes(db: Database, lanes: readonly ConfiguredLane[]): Promise<void> {
  const named = sql.param(lanes.map(({ lane }) => laneName(lane)));
  const feeds = sql.param(lanes.map(({ lane }) => feedName(lane)));
  // Such as the live lane of a list that is bounded now.
  const others = await execute(db).values<FeedLane>`
    select json_build_object('chain_id', chain_id, 'operation', operation, 'lane', lane)
    from etl.lanes join etl.feeds using (feed)
    where feed = any(${feeds}::text[]) and scope is not null and feed || '/' || lane <> all(${named}::text[])
  `;
  for (const lane of others) await transact(db, (tx) => retireLane(tx, lane));
  for (const { lane, scope, cron, timezone } of lanes) {
    await transact(db, async (tx) => {
      const known = await execute(tx).row<{ at: Date; scope: RunScope | null }>`
        select clock_timestamp() as at, scope from etl.lanes where ${ofLane(lane)} for update
      `;
      if (known === null) return;
      const next = nextFiring({ cron, timezone }, new Date(known.at)).toISOString();
      if (known.scope !== null && !isDeepStrictEqual(known.scope, scope)) {
        await dropRuns(tx, lane, known.scope);
      }
      await tx.execute(sql`
        update etl.lanes
        set scope = ${JSON.stringify(scope)}::jsonb, next_due_at = least(next_due_at, ${next}::timestamptz)
        where ${ofLane(lane)}
      `);
    });
  }
}

interface Due extends Omit<ConfiguredLane, 'next'> {
  readonly now: Date;
  /** As stored: who moves it opens the run. */
  readonly due: string;
  readonly requested: string | null;
}

/** Opens the runs of lanes that are due, or that a person requested. Any number of processes may. */
export async function openDue({
  db,
  boss,
  clock,
}: {
  readonly db: Database;
  readonly boss: PgBoss;
  readonly clock: () => Date;
}): Promise<void> {
  const found = await execute(db).rows<Due>`
    select json_build_object('chain_id', chain_id, 'operation', operation, 'lane', lane) as lane,
           scope, settings ->> 'schedule' as cron, settings ->> 'timezone' as timezone,
           clock_timestamp() as now, next_due_at::text as due, requested_at::text as requested
    from etl.lanes join etl.feeds using (feed)
    where paused_at is null and next_due_at is not null
      and (next_due_at <= clock_timestamp() or requested_at is not null)
    order by lanes.lane desc, next_due_at, feed
  `;
  for (const due of found) await openIfMine(due);

  async function openIfMine({ lane, scope, cron, timezone, now, due, requested }: Due) {
    const target: Target = { lane, scope };
    const isRequested = requested !== null;
    const [wanted] = await dueLanes(db, [target], isRequested ? 'sync' : 'schedule', clock());
    const next = nextFiring({ cron, timezone }, new Date(now)).toISOString();
    const isMine = await transact(db, async (tx) => {
      const claimed = await execute(tx).has`
        update etl.lanes
        set next_due_at = ${next}::timestamptz, requested_at = null
        where ${ofLane(lane)} and next_due_at = ${due}::timestamptz
          and requested_at is not distinct from ${requested}::timestamptz
        returning feed
      `;
      if (!claimed || wanted === undefined) return false;
      return (await openRunIn(tx, lane, scope, 'yield')) !== null;
    });
    if (!isMine) return;
    if (isRequested) await openLane(db, boss, { lane, scope: atOnce(target) }, 'yield');
    else await sendSlice(boss, lane);
  }
}

/** What a person does with feeds: each is an event of the feed. */
const handles = {
  pause: ['paused_at = clock_timestamp()', 'paused_at is null', 'Paused by a person.'],
  resume: ['paused_at = null', 'paused_at is not null', 'Resumed by a person.'],
  run: ['requested_at = clock_timestamp()', 'true', 'A poll was requested by a person.'],
} as const;

export type Handle = keyof typeof handles;

/** Pauses feeds, resumes them, or has them polled now. @returns those that it changed */
export async function handleFeeds(
  db: Database,
  feeds: readonly string[],
  handle: Handle,
): Promise<string[]> {
  const [change, where, sentence] = handles[handle];
  return execute(db).values<string>`
    with handled as (
      update etl.lanes set ${sql.raw(change)}
      where feed = any(${sql.param(feeds)}::text[]) and ${sql.raw(where)}
      returning feed
    ), noted as (
      insert into etl.events (kind, feed, sentence)
      select distinct 'command', feed, ${sentence} from handled
    ), polled as (
      update etl.feeds set poll_again_at = null where ${handle === 'run'} and feed in (select feed from handled)
    )
    select distinct feed from handled order by feed
  `;
}
