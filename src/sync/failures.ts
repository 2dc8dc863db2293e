import { sql } from 'drizzle-orm';
import {
  codeOfFailure,
  databaseClassOf,
  describeDatabaseError,
  isOfDatabase,
  rootOf,
} from '../db/failure.ts';
import { rowOf } from '../db/column-types.ts';
import { execute, type Database, type Queryable, type Transaction } from '../db/transaction.ts';
import { ExplorerError, KeyPausedError } from '../explorer/error.ts';
import { type FailureClass, failures, type Why, failureClasses } from '../failure.ts';
import { type Feed, type FeedLane, isPaused, ofFeed, ofLane } from '../lists/feed.ts';
import { type RunRow, runs, type WalkRow } from '../lists/tables.ts';
import { z } from 'zod';

/** Why a slice stopped; `failures[failure]` says what follows. */
export interface FeedFailure extends Why {
  readonly failure: FailureClass;
  /** What happened, in one line without secrets. */
  readonly problem: string;
  /** Class, what happened and what to do, in one line. */
  readonly reason: string;
  /** The service's stated wait, or how long the key is paused, in ms. */
  readonly retryAfterMs: number | null;
}

/**
 * The failure of a walk. What was served before decides what a 400, 404 or 410 in unknown words means: the service is
 * being redeployed, refuses the cursor, lacks this list, or is not at this address (`origin`).
 * @returns null for an error that is not the explorer's; the caller rethrows it
 */
export async function failureOfWalk(
  db: Database,
  walk: WalkRow,
  error: unknown,
  origin: string,
): Promise<FeedFailure | null> {
  const isHttp = error instanceof ExplorerError;
  if (!isHttp && !(error instanceof KeyPausedError)) return null;
  const { failure, retryAfterMs } = error;
  const problem = isHttp ? error.text : error.detail;
  if (failure !== 'not-found') return feedFailure(failure, problem, retryAfterMs);
  const served = await execute(db).values(z.string)`
    select feed from etl.coverage join etl.feeds using (feed) where pages > 0 and origin = ${origin}
  `;
  if (served.includes(walk.feed)) {
    const isCursor = isHttp && error.status === 400 && walk.cursor !== null;
    return feedFailure(isCursor ? 'cursor-refused' : 'unreachable', problem, retryAfterMs);
  }
  if (served.length > 0) return feedFailure('unsupported', problem, retryAfterMs);
  return feedFailure('not-found', `${problem}; base_url is ${origin}`, retryAfterMs);
}

/** The failure of a feed for what Postgres or the system reported, which names no value, or for a defect, which has a stack. */
export function faultOf(error: unknown) {
  const problem = describeDatabaseError(error);
  const root = rootOf(error);
  const isOfLanguage = root instanceof TypeError || root instanceof RangeError;
  if (isOfDatabase(error) || (codeOfFailure(error) !== null && !isOfLanguage)) {
    const failure = databaseClassOf(error) ?? 'not-stored';
    return { feedFailure: feedFailure(failure, problem, null), stack: null };
  }
  const { name, stack = '' } = root instanceof Error ? root : new Error('not an error');
  const frames = stack.split('\n').map((line) => line.trim());
  return {
    feedFailure: feedFailure('internal-error', `${name}: ${problem}`, null),
    stack: frames.filter((line) => line.startsWith('at ')).join('\n'),
  };
}

function feedFailure(
  failure: FailureClass,
  problem: string,
  retryAfterMs: number | null,
): FeedFailure {
  return {
    failure,
    problem,
    reason: `${failure}: ${problem}. ${failures[failure].advice}`,
    retryAfterMs,
  };
}

/** In ms; doubled after each failure without progress. */
const firstWaitMs = 5_000;
/** In ms: a long outage costs the service one request in ten minutes, also if an answer states a longer wait. */
const longestWaitMs = 600_000;

/** Random share added to a stated wait: all clients know the same end. */
const jitter = { share: 0.1, mostMs: 30_000 };

/**
 * How long a feed backs off after its nth failure in a row, in ms. Full jitter over the upper half keeps feeds that
 * failed together apart. A stated wait does not grow, because a pause is no failure.
 */
export function backOffMs(
  { failure, retryAfterMs }: Pick<FeedFailure, 'failure' | 'retryAfterMs'>,
  inARow: number,
  random: () => number,
): number {
  const cap = Math.min(longestWaitMs, firstWaitMs * 2 ** Math.min(inARow - 1, 30));
  const ownMs = cap / 2 + (random() * cap) / 2;
  if (retryAfterMs === null) return ownMs;
  const statedMs = retryAfterMs + random() * Math.min(retryAfterMs * jitter.share, jitter.mostMs);
  if (failures[failure].nextTry !== 'growing') return statedMs;
  return Math.max(Math.min(statedMs, longestWaitMs), ownMs);
}

/** Notes what is wrong with a feed: its state follows from that. */
export async function setFailure(db: Queryable, feed: Feed, { failure, reason }: Why) {
  await db.execute(sql`
    update etl.feeds set failure = ${failure}, reason = ${reason}, updated_at = now()
    where ${ofFeed(feed)} and (failure, reason) is distinct from (${failure}, ${reason})
  `);
}

const recoveredShape = () =>
  z.object({
    /** Null: of no class. */
    was: z.enum(failureClasses).nullable(),
    reason: z.string().nullable(),
  });
export type Recovered = z.infer<ReturnType<typeof recoveredShape>>;

/** As SQL: whether something must succeed before the feed is well again. A later walk may be ordered at once. */
const isFailing = sql`(reason is not null and failure is distinct from 'unordered')`;

const begunShape = () =>
  z.object({
    run: rowOf(runs),
    /** Whether the feed, or this run, is failing. */
    is_failing: z.boolean(),
    /** On the database's clock. */
    begun_at: z.string(),
  });
export type Begun = Readonly<z.infer<ReturnType<typeof begunShape>>>;

/**
 * Ends what the last run found of a lane's feed; a failing one stays so until something succeeds.
 * @returns null without an open run, or if a person has paused it
 */
export const beginWork = (db: Database, lane: FeedLane) =>
  execute(db).row(begunShape)`
    with begun as (
      select runs as run, failures_in_a_row from etl.runs
      where ${ofLane(lane)} and state = 'open' and not ${isPaused(lane)}
    ), found as (
      update etl.feeds set failure = null, reason = null, updated_at = now()
      where ${ofFeed(lane)} and not ${isFailing} and reason is not null and exists (select from begun)
    )
    select to_jsonb(run) as run, ${isFailing} or failures_in_a_row > 0 as is_failing,
           clock_timestamp()::text as begun_at
    from begun, etl.feeds where ${ofFeed(lane)}
  `;

/** Ends a feed's failure after one of its runs succeeded, unless another still fails. Null: it was not failing, or still is. */
export async function recover(tx: Transaction, run: RunRow): Promise<Recovered | null> {
  // The feed before its run, the order in which opening a run locks them.
  const recovered = await execute(tx).row(recoveredShape)`
    with before as (
      select failure, reason from etl.feeds
      where ${ofFeed(run)} and ${isFailing}
      for no key update
    )
    update etl.feeds
    set failure = null, reason = null, poll_again_at = null, updated_at = now()
    from before
    where ${ofFeed(run)}
      and not exists (
        select from etl.runs
        where ${ofFeed(run)} and state = 'open' and id <> ${run.id} and failures_in_a_row > 0
      )
    returning before.failure as was, before.reason
  `;
  await tx.execute(
    sql`update etl.runs set failures_in_a_row = 0 where id = ${run.id} and failures_in_a_row > 0`,
  );
  return recovered;
}

/** Facts about a key that a page refutes. */
const ofKeys: readonly FailureClass[] = ['unauthorized', 'key-missing', 'out-of-credits'];

/**
 * Ends what is stored of a key against the feeds of its chains: a feed that is polled daily would stay blocked. What was
 * stored after `since`, when the slice began whose page shows it, may be newer than the page.
 */
export const acceptKey = (db: Database, chainIds: readonly number[], since: string) =>
  execute(db).row(recoveredShape)`
    with stopped as materialized (
      select feed, failure, reason from etl.feeds
      where chain_id = any(${sql.param(chainIds)}::bigint[])
        and failure = any(${sql.param(ofKeys)}::text[])
        and updated_at <= ${since}::timestamptz
      order by chain_id, operation
      for no key update
    )
    update etl.feeds set failure = null, reason = null, updated_at = now()
    from stopped
    where feeds.feed = stopped.feed
    returning stopped.failure as was, stopped.reason
  `;

/**
 * Keeps schedules from polling a feed for as long as nothing was served of it, from a minute to a day: one answer
 * is little against pages of the last hour. `extra`: a part that is added.
 */
export async function pollLater(db: Database, feed: Feed, extra: number): Promise<void> {
  await db.execute(sql`
    update etl.feeds
    set poll_again_at = now() + ${1 + extra}::float8 * greatest(
      interval '1 minute',
      least(interval '1 day', now() - (
        select max(last_page_at) from etl.coverage where coverage.feed = feeds.feed
      ))
    )
    where ${ofFeed(feed)}
  `);
}
