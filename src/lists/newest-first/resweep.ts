import { sql } from 'drizzle-orm';
import type { Queryable } from '../../db/query.ts';
import { type Feed, ofFeed } from '../feed.ts';
import { latestStart } from '../pace.ts';
import { type Floor, floorsOf } from './coverage.ts';
import { itemsOf, type RunResweep } from './run.ts';

/** Rows that the live lane refetches in one walk: 20 pages of 50. The backfill lane reads more. */
const shortRows = 1_000;

/** A rule of 20 minutes beside a schedule of 5 would run every 25 without a slack: a part of its interval. */
const slackPart = 1 / 20;
const longestSlackMs = 60_000;

/** How soon a rule is tried again if its walks failed, as a part of its interval: they may always fail. */
const againPart = 1 / 10;

/** Where a live walk ends: below the top by the overlap or a short due rule; null: no coverage. */
export async function liveDepth(
  tx: Queryable,
  feed: Feed,
  overlapMs: number,
  rules: readonly RunResweep[],
  at: Date,
): Promise<Pick<Floor, 'depthMs' | 'floor'> | null> {
  const due = (await dueDepths(tx, feed, rules, at)).filter((depthMs) => depthMs > overlapMs);
  const [overlap, ...deeper] = await floorsOf(tx, feed, [overlapMs, ...due]);
  let deepest = overlap ?? null;
  for (const floor of deeper) if (await isShort(tx, feed, floor)) deepest = floor;
  return deepest;
}

/** The deepest rule that is due at `at` and too long for the live lane; null: there is none. */
export async function deepResweep(
  tx: Queryable,
  feed: Feed,
  rules: readonly RunResweep[],
  at: Date,
): Promise<Floor | null> {
  const due = await dueDepths(tx, feed, rules, at);
  if (due.length === 0) return null;
  const deepest = (await floorsOf(tx, feed, due)).at(-1);
  return deepest === undefined || (await isShort(tx, feed, deepest)) ? null : deepest;
}

async function isShort(tx: Queryable, feed: Feed, { floor, from }: Floor): Promise<boolean> {
  const { rows } = await tx.execute(sql`
    select from ${itemsOf(feed)} and height between ${floor} and ${from}
    limit ${shortRows + 1}
  `);
  return rows.length <= shortRows;
}

/**
 * Due depths in ms: the interval has passed since as deep a turn (a run's walks of one depth)
 * began. A turn under way counts, a failed one for a while, one of a fast clock never.
 */
async function dueDepths(
  tx: Queryable,
  feed: Feed,
  rules: readonly RunResweep[],
  at: Date,
): Promise<number[]> {
  if (rules.length === 0) return [];
  const judged = rules.map(({ depth_ms, every_ms }) => ({
    depth_ms,
    wait_ms: every_ms - Math.min(every_ms * slackPart, longestSlackMs),
    again_ms: every_ms * againPart,
  }));
  const longestMs = Math.max(...judged.map(({ wait_ms }) => wait_ms));
  const since = (ms: unknown) =>
    sql`${at.toISOString()}::timestamptz - make_interval(secs => ${ms}::float8 / 1000)`;
  const { rows } = await tx.execute<{ depth_ms: number }>(sql`
    with turn as materialized (
      select depth_ms, started_at,
             bool_and(state in ('running', 'finished')) as is_well
      from etl.walks
      where ${ofFeed(feed)} and depth_ms is not null and started_at > ${since(longestMs)}
        and started_at <= ${latestStart(at)}
      group by run_id, depth_ms, started_at
    )
    select rule.depth_ms::float8 as depth_ms
    from json_to_recordset(${JSON.stringify(judged)}::json)
      as rule(depth_ms float8, wait_ms float8, again_ms float8)
    where (select min(started_at) from etl.walks where ${ofFeed(feed)}) <= ${since(sql`wait_ms`)}
      and not exists (
        select from turn
        where turn.depth_ms >= rule.depth_ms
          and started_at > case when is_well then ${since(sql`wait_ms`)} else ${since(sql`again_ms`)} end
      )
    group by rule.depth_ms
  `);
  return rows.map(({ depth_ms }) => depth_ms);
}
