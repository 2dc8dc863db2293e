import { sql, type SQL } from 'drizzle-orm';
import { z } from 'zod';
import { execute, type Queryable, type Transaction } from '../db/transaction.ts';
import type { OperationName } from './registry.ts';
import { lanes } from './tables.ts';

export const feedShape = () =>
  z.object({
    chain_id: z.number(),
    operation: z.custom<OperationName>((name) => typeof name === 'string'),
  });
export type Feed = Readonly<z.infer<ReturnType<typeof feedShape>>>;

/** One lane of a feed: all that a job names. */
export const feedLaneShape = () => feedShape().extend({ lane: z.enum(lanes) });
export type FeedLane = Readonly<z.infer<ReturnType<typeof feedLaneShape>>>;

/** `10/user-operations`. */
export const feedName = ({ chain_id, operation }: Feed) => `${chain_id}/${operation}`;

/** `10/user-operations/live`: also the key of its job. */
export const laneName = (lane: FeedLane) => `${feedName(lane)}/${lane.lane}`;

/** As SQL: the feed's rows, of a table or view of schema `etl`. */
export const ofFeed = (feed: Feed) => sql`feed = ${feedName(feed)}`;

export const ofLane = (lane: FeedLane) => sql`${ofFeed(lane)} and lane = ${lane.lane}`;

/** As SQL: the `FeedLane` of a row that has its columns. */
export const laneOfRow = sql.raw(
  `json_build_object('chain_id', chain_id, 'operation', operation, 'lane', lane)`,
);

/** As SQL: whether a person has paused a lane. */
export const isPaused = (lane: FeedLane) =>
  sql`exists (select from etl.lanes where ${ofLane(lane)} and paused_at is not null)`;

/** Whether a process left walks of a lane that are to go on: nothing else reads what they are to read. */
export const hasUnfinished = (db: Queryable, lane: FeedLane): Promise<boolean> =>
  execute(db).has`
    select from etl.walks as walk
    join etl.runs as run on run.id = walk.run_id and run.state in ('open', 'interrupted')
    where walk.feed = ${feedName(lane)} and walk.lane = ${lane.lane} and walk.state = 'running'
    limit 1
  `;

/** Lets walks of a feed end one at a time: an end reads others' rows. Taken before any row lock. */
export async function lockEnds(
  tx: Transaction,
  { feed }: { readonly feed: string },
): Promise<void> {
  await tx.execute(sql`select pg_advisory_xact_lock(hashtextextended(${`ends of ${feed}`}, 0))`);
}

const defaultParallel = 4;

/** How many walks of a lane run at once, if more than one can. */
export async function parallelOf(db: Queryable, feed: Feed): Promise<number> {
  const set = await execute(db).value(z.number)`
    select (settings ->> 'parallel')::float8 from etl.feeds where ${ofFeed(feed)}
  `;
  return set ?? defaultParallel;
}

/** More walks of one lane at once than any plan and round trip call for. */
export const mostWalks = 32;

/** What one process writes, in pages a second: more walks only wait for each other. */
const writtenPerSecond = 100;

/** Time from an answer to the walk's next request, as a share of the round trip. */
const ownPart = 0.5;

/** Newest pages that show the present round trip. */
const recentPages = 20;

/** How many walks use the feed's share of the rate, by the round trip of the newest pages. */
export async function walksCalledFor(db: Queryable, feed: Feed): Promise<number> {
  const found = await execute(db).one(() =>
    z.object({
      rate: z.number().nullable(),
      trip_ms: z.number().nullable(),
      lanes: z.number(),
      parallel: z.number().nullable(),
    }),
  )`
    select (
             select least(requests_per_second, service_limit)
             from etl.budget
             order by updated_at desc
             limit 1
           ) as rate,
           (
             -- The fastest quarter: one stalled request is not typical, and many are slow only
             -- because this process was busy, which more walks would make worse.
             select percentile_cont(0.25) within group (order by latency_ms)
             from (select latency_ms from etl.pages order by id desc limit ${recentPages}) as newest
           ) as trip_ms,
           (select count(*)::float8 from etl.runs where state = 'open' and lane = 'backfill') as lanes,
           (select (settings ->> 'parallel')::float8 from etl.feeds where ${ofFeed(feed)}) as parallel
  `;
  const { rate, trip_ms, lanes: reading, parallel } = found;
  const pages = Math.min(rate ?? 0, writtenPerSecond) / Math.max(1, reading);
  const walks = Math.ceil((pages * (1 + ownPart) * (trip_ms ?? 0)) / 1000);
  return Math.min(Math.max(1, walks), mostWalks, parallel ?? mostWalks);
}

/** Ten minutes are how long a new block awaits its update; a day keeps a lasting fault at one read a day. */
const shortestRest = '10 minutes';
const longestRest = '1 day';

/** As SQL: whether some walks' last is as long ago as their first was before it, in bounds: intervals double. True without walks. */
export const hasRested = (walks: SQL, at: Date) => sql`(
  select coalesce(
    max(started_at) + least(
      greatest(max(started_at) - min(started_at), ${shortestRest}::interval), ${longestRest}::interval
    ) <= ${at.toISOString()}::timestamptz,
    true
  )
  from etl.walks
  where ${walks} and started_at <= ${latestStart(at)}
)`;

/** How far the clocks of two healthy machines may lie apart. */
const clockDrift = '1 minute';

/** As SQL: the latest plausible start of a walk, seen at a time. A fast clock would keep all waiting. */
export const latestStart = (at: Date): SQL =>
  sql`${at.toISOString()}::timestamptz + ${clockDrift}::interval`;
