import { isDeepStrictEqual } from 'node:util';
import { sql } from 'drizzle-orm';
import type { PgBoss } from 'pg-boss';
import {
  execute,
  type Database,
  limitLockWait,
  transact,
  type Transaction,
} from '../db/transaction.ts';
import { errorOf } from '../failure.ts';
import {
  type FeedLane,
  feedName,
  laneName,
  laneOfRow,
  ofFeed,
  ofLane,
  feedLaneShape,
} from '../lists/feed.ts';
import { printable } from '../printable.ts';
import { signals } from '../signals.ts';
import {
  type ConfiguredLane,
  dueScope,
  nextFiring,
  type RegisteredFeed,
  configuredLaneShape,
} from './feeds.ts';
import { differenceText } from './changes.ts';
import { queueSlice } from './queue.ts';
import { dropRuns, openRun } from './runs.ts';
import { workersPresent } from './workers.ts';
import { z } from 'zod';

// Who wants a lane, when it is due, and whether a person has paused it.

/** A deployment that works now wants a feed with other settings. */
export class DeploymentError extends errorOf('other-deployment') {}

/** Settings of a feed that another deployment, with a `start` at work, wants otherwise. */
const disagreementShape = () =>
  z.object({
    feed: z.string(),
    deployment: z.string(),
    /** Those that differ, each with the value wanted here and the other's. */
    settings: z.record(z.string(), z.tuple([z.unknown(), z.unknown()])),
  });
export type Disagreement = Readonly<z.infer<ReturnType<typeof disagreementShape>>>;

/** Where a deployment (null: no file) would change settings that a `start` at work of another one goes by. */
export async function disagreements(
  db: Database,
  feeds: readonly RegisteredFeed[],
  deployment: string | null,
): Promise<Disagreement[]> {
  if (deployment === null) return [];
  const named = feeds.map((feed) => ({ feed: feedName(feed), settings: feed.settings }));
  return execute(db).rows(disagreementShape)`
    select feed, other as deployment,
           jsonb_object_agg(setting, json_build_array(own, theirs)) as settings
    from json_to_recordset(${JSON.stringify(named)}::json)
      as named(feed text, settings jsonb)
    join etl.feeds as known using (feed)
    join etl.lanes using (feed), unnest(wanted_by) as other, lateral (
      select key as setting, value as own, known.settings -> key as theirs
      from jsonb_each(named.settings)
      where value is distinct from known.settings -> key
    ) as differing
    where other <> ${deployment}
      and other in (select present.deployment from (${workersPresent}) as present where kind = 'start')
    group by feed, other
    order by feed, other
  `;
}

/** The error of disagreements, with what to do. */
export function disagreementError(found: readonly Disagreement[]): DeploymentError {
  const lines = found.map(({ feed, deployment, settings }) => {
    const differing = Object.entries(settings).map(([name, [own, other]]) =>
      differenceText(name, own, other),
    );
    return `${feed} is wanted by ${printable(deployment)} with other settings; this file has ${differing.join(', ')}`;
  });
  return new DeploymentError(
    `${lines.join('; ')}. A start of that deployment is at work: use its settings, remove the feed from one of the files, or move it here with --take-over of start or sync.`,
  );
}

/** What a process claims of a database. */
export interface Claim {
  /** The deployment that its file describes; null: it has no file. */
  readonly deployment: string | null;
  /** Whether its file names all that the deployment wants; else what it wanted before stays wanted. */
  readonly isWhole: boolean;
  /** Feeds that other deployments want, and that become its own. */
  readonly takes: readonly string[];
}

/**
 * Notes which lanes a deployment wants. Feeds that none wants any more are at rest: their open runs end, and rows stay.
 * @returns these feeds
 */
export async function wantLanes(
  db: Database,
  lanes: readonly FeedLane[],
  { deployment, isWhole, takes }: Claim,
): Promise<string[]> {
  const named = lanes.map((lane) => ({ feed: feedName(lane), lane: lane.lane }));
  const wanted = sql`json_to_recordset(${JSON.stringify(named)}::json) as named(feed text, lane text)`;
  return transact(db, async (tx) => {
    await tx.execute(sql`
      insert into etl.lanes as t (feed, lane, wanted_by, paused_at)
      select feed, lane, array_remove(array[${deployment}::text], null), (
        select min(paused_at) from etl.lanes as other where other.feed = named.feed
      )
      from ${wanted}
      order by feed, lane
      on conflict (feed, lane) do update
      set wanted_by = case when t.feed = any(${sql.param(takes)}::text[]) then excluded.wanted_by
                           else t.wanted_by || excluded.wanted_by end
      where not t.wanted_by @> excluded.wanted_by
        or (t.feed = any(${sql.param(takes)}::text[]) and t.wanted_by <> excluded.wanted_by)
    `);
    if (!isWhole || deployment === null) return [];
    const left = await execute(tx).values(feedLaneShape)`
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
      select ${laneOfRow}
      from taken_back join etl.feeds using (feed)
      where wanted_by = '{}'
      order by feed, lane
    `;
    for (const lane of left) await retireLane(tx, lane);
    return [...new Set(left.map(feedName))];
  });
}

/** Ends what a lane does and is due to do. */
async function retireLane(tx: Transaction, lane: FeedLane): Promise<void> {
  await tx.execute(sql`
    update etl.lanes set next_due_at = null, requested_at = null, scope = null where ${ofLane(lane)}
  `);
  await dropRuns(tx, lane, null);
  // It may be back before its day is over.
  await tx.execute(sql`update etl.feeds set poll_again_at = null where ${ofFeed(lane)}`);
}

/** Has `start` poll lanes by their schedules from now on. What was missed is due at once; open runs of another scope end. */
export async function scheduleLanes(
  db: Database,
  lanes: readonly ConfiguredLane[],
  deployment: string | null,
): Promise<void> {
  const isOurs = sql`(${deployment}::text is null or wanted_by @> array[${deployment}::text])`;
  const named = sql.param(lanes.map(({ lane }) => laneName(lane)));
  const feeds = sql.param(lanes.map(({ lane }) => feedName(lane)));
  // Such as the live lane of a list that is bounded now.
  const others = await execute(db).values(feedLaneShape)`
    select ${laneOfRow}
    from etl.lanes join etl.feeds using (feed)
    where ${isOurs} and feed = any(${feeds}::text[]) and scope is not null and feed || '/' || lane <> all(${named}::text[])
  `;
  for (const lane of others) await transact(db, (tx) => retireLane(tx, lane));
  for (const { lane, scope, cron, timezone } of lanes) {
    await transact(db, async (tx) => {
      const known = await execute(tx).row(() =>
        z.object({ at: z.string(), scope: z.record(z.string(), z.unknown()).nullable() }),
      )`
        select clock_timestamp()::text as at, scope from etl.lanes
        where ${ofLane(lane)} and ${isOurs}
        for update
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

const dueShape = () =>
  configuredLaneShape().extend({
    now: z.string(),
    /** As stored: who moves it opens the run. */
    due: z.string(),
    requested: z.string().nullable(),
  });
type Due = Readonly<z.infer<ReturnType<typeof dueShape>>>;

/** How long another transaction may hold a lane or its feed, in ms: the others are due too. */
const lockWaitMs = 2_000;

type Opening = Readonly<{ db: Database; boss: PgBoss; clock: () => Date }>;

/**
 * Opens the runs of lanes that are due, or requested, and returns how many. Any number of processes may.
 * @throws the first failure, after all others were tried
 */
export async function openDue(work: Opening): Promise<number> {
  const found = await execute(work.db).rows(dueShape)`
    select ${laneOfRow} as lane,
           scope, settings ->> 'schedule' as cron, settings ->> 'timezone' as timezone,
           clock_timestamp()::text as now, next_due_at::text as due, requested_at::text as requested
    from etl.lanes join etl.feeds using (feed)
    where paused_at is null and next_due_at is not null
      and (next_due_at <= clock_timestamp() or requested_at is not null)
    order by lanes.lane desc, next_due_at, feed
  `;
  const failures: unknown[] = [];
  let opened = 0;
  for (const due of found) {
    const isOpened = await openIfMine(work, due).catch((error: unknown) => {
      failures.push(error);
      return false;
    });
    if (isOpened) opened += 1;
  }
  if (failures.length > 0) throw failures[0];
  return opened;
}

/** Opens a lane's run if no other process has meanwhile. A request waits for the end of a run with other bounds. */
async function openIfMine(
  { db, boss, clock }: Opening,
  { lane, scope, cron, timezone, now, due, requested }: Due,
): Promise<boolean> {
  const isRequested = requested !== null;
  const occasion = isRequested ? 'sync' : 'schedule';
  const wanted = await dueScope(db, { lane, scope }, occasion, clock());
  const next = nextFiring({ cron, timezone }, new Date(now)).toISOString();
  const isOpened = await transact(db, async (tx) => {
    await limitLockWait(tx.$client, lockWaitMs);
    const isMine = await execute(tx).has`
      select from etl.lanes
      where ${ofLane(lane)} and paused_at is null and next_due_at = ${due}::timestamptz
        and requested_at is not distinct from ${requested}::timestamptz
      for update
    `;
    if (!isMine) return false;
    const run = wanted === null ? null : await openRun(tx, lane, wanted, 'yield');
    // A run that is open goes on: it may have been paused.
    await queueSlice(boss, tx, lane, isRequested && run !== null ? 'now' : 'in turn');
    await tx.execute(sql`
      update etl.lanes
      set next_due_at = ${next}::timestamptz,
          requested_at = case when ${wanted !== null && run === null} then requested_at end
      where ${ofLane(lane)}
    `);
    return run !== null;
  });
  signals.emit('queued');
  return isOpened;
}

/** What a person does with feeds: each is an event of the feed. */
const handles = {
  pause: ['paused_at = clock_timestamp()', 'paused_at is null', 'Paused by a person.'],
  resume: [
    'paused_at = null, next_due_at = case when next_due_at is not null then clock_timestamp() end',
    'paused_at is not null',
    'Resumed by a person.',
  ],
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
  const statement = sql`
    with handled as (
      update etl.lanes set ${sql.raw(change)}
      where feed = any(${sql.param(feeds)}::text[]) and ${sql.raw(where)}
      returning feed
    ), noted as (
      insert into etl.events (kind, feed, sentence)
      select distinct 'command', feed, ${sentence} from handled
    ), polled as (
      update etl.feeds set poll_again_at = null
      where ${handle === 'run'} and feed in (select feed from handled)
    )
    select distinct feed from handled order by feed
  `;
  return transact(db, (tx) => execute(tx).values(z.string)`${statement}`);
}
