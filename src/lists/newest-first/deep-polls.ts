import { sql } from 'drizzle-orm';
import { execute, type Queryable } from '../../db/transaction.ts';
import { type Feed, feedName, latestStart, ofFeed, parallelOf } from '../feed.ts';
import type { PlannedWalk } from '../list.ts';
import {
  type Cursor,
  type NewestFirstOperation,
  type NewestFirstWalk,
  cursorShape,
} from '../operation.ts';
import { placeColumns } from '../positions.ts';
import {
  boundsOf,
  isRange,
  isWalkRunning,
  type NewestFirstRun,
  type Planned,
  type Planning,
  type ResweepRule,
} from './run.ts';
import { z } from 'zod';

/**
 * Where a live walk ends: below the covered top by the overlap or the deepest short rule that is due, and no higher
 * than the walk before it if that one was cut and short; null: nothing is covered.
 */
export async function liveFloor({ list, tx, run, at }: Planning): Promise<Floor | null> {
  const { overlap_ms = 0, resweep = [] } = run.scope;
  const due = (await dueDepths(tx, run, resweep, at)).filter((depthMs) => depthMs > overlap_ms);
  const [overlap, ...deeper] = await floorsOf(tx, run, [overlap_ms, ...due]);
  let deepest = overlap ?? null;
  for (const rule of deeper) if (await isShort(list, tx, run, rule)) deepest = rule;
  if (deepest === null) return null;
  deepest = { ...deepest, floor: Math.min(deepest.floor, await newGapOf(tx, run)) };
  const repeat = { ...deepest, floor: await floorToRepeat(tx, run) };
  return repeat.floor < deepest.floor && (await isShort(list, tx, run, repeat)) ? repeat : deepest;
}

/** As SQL: whether a walk is of a feed, by the key of an index that has them in order. Clocks differ, numbers do not. */
const isWalkOf = (feed: Feed) =>
  sql`(feed, id) between (${feedName(feed)}, 0) and (${feedName(feed)}, 9223372036854775807)`;

/** Where the lowest gap begins that is new since the last live walk: a deep poll began above it. Infinity: there is none. */
async function newGapOf(tx: Queryable, feed: Feed): Promise<number> {
  const from = await execute(tx).value(z.number)`
    select min(lower(gap))::float8 from etl.feed_gaps
    where ${ofFeed(feed)} and lower(gap) >= (
      select top from etl.walks
      where ${isWalkOf(feed)} and lane = 'live' and top is not null
      order by feed desc, id desc
      limit 1
    )
  `;
  return from ?? Infinity;
}

/**
 * The stop height of the last live walk, if it did not verify all above that height and was no repeat itself: in a
 * list without order, polls would go deeper and deeper. Else Infinity. A cut above the covered top is a gap.
 */
async function floorToRepeat(tx: Queryable, feed: Feed): Promise<number> {
  const [last, before] = await execute(tx).rows(() =>
    z.object({ floor: z.number(), is_read: z.boolean(), is_whole: z.boolean() }),
  )`
    select floor::float8 as floor, is_read,
           is_read and (cuts = 0 or verified @> int8range(floor, greatest(floor, (
             select max(top) from etl.walks as earlier
             where earlier.feed = walks.feed and earlier.id < walks.id
           )))) as is_whole
    from etl.walks,
      lateral (select state = 'finished' and (reason is null or bottom < floor) as is_read) as read
    where ${isWalkOf(feed)} and lane = 'live' and state <> 'running' and bottom is not null
    order by feed desc, id desc
    limit 2
  `;
  if (last === undefined || last.is_whole) return Infinity;
  const isRepeat = last.is_read && before?.is_whole === false && last.floor <= before.floor;
  return isRepeat ? Infinity : last.floor;
}

/** The deepest due rule that is too long for the live lane; once a run, so that a run ends. */
export async function planDeepPoll({ list, tx, run, begun, at }: Planning): Planned {
  if (run.scope.again === true || isRange(run.scope)) return null;
  const isBegun = begun.some(({ depth_ms }) => depth_ms !== null);
  if (isBegun && !begun.some((walk) => isWalkRunning(walk) && walk.depth_ms === null)) return null;
  const due = await dueDeepPoll(list, tx, run, run.scope.resweep ?? [], at);
  if (due === null) return null;
  const { floor, depthMs } = due;
  return planSegments(tx, run, { scope: { again: true }, floor, depthMs });
}

/** Reads all known history once more. */
export async function planAgain({ tx, run }: Planning): Planned {
  const lowest = await execute(tx).value(z.number)`
    select lower(covered)::float8 from etl.feed_coverage where ${ofFeed(run)}
  `;
  const scope = { ...boundsOf(run), again: true };
  return planSegments(tx, run, { scope, floor: lowest || null });
}

/** If stored cursors are refused, one walk from the head replaces those walks after the others. */
export async function planFallback({ tx, run, begun }: Planning): Planned {
  const again = begun.filter(({ is_again }) => is_again);
  const refused = again.filter((walk) => walk.state === 'abandoned' && !walk.from_head);
  const lowest = refused.toSorted((a, b) => a.floor - b.floor)[0];
  if (lowest === undefined || again.some(isWalkRunning)) return null;
  if (again.some((walk) => walk.from_head && walk.floor <= lowest.floor)) return null;
  await tx.execute(sql`
    update etl.walks set depth_ms = null
    where run_id = ${run.id} and state = 'abandoned' and not from_head
  `);
  return {
    scope: { ...boundsOf(run), again: true },
    floor: lowest.floor || null,
    ...(lowest.depth_ms !== null && { depthMs: lowest.depth_ms }),
    cursor: null,
  };
}

/** The shortest walk of its own, in pages: each range boundary may cost a page or two twice. */
const shortestSegment = 25;

const entryShape = () =>
  z.object({
    cursor: cursorShape(),
    /** The highest block on the page. */
    top: z.number(),
  });
type Entry = z.infer<ReturnType<typeof entryShape>>;

/**
 * Splits a reading from the head evenly into parallel walks at stored cursors; each ends at the next one's cursor, or
 * past its first block.
 */
async function planSegments(
  tx: Queryable,
  run: NewestFirstRun,
  { floor, ...rest }: Pick<PlannedWalk<NewestFirstWalk>, 'scope' | 'floor' | 'depthMs'>,
): Promise<PlannedWalk<NewestFirstWalk>> {
  const entries = await execute(tx).rows(entryShape)`
    select cursor, top::float8 as top
    from etl.entries_within(
      ${feedName(run)}, ${floor ?? 0}, ${await parallelOf(tx, run)}::int, ${shortestSegment}::int
    )
  `;
  const segment = (
    cursor: Cursor | null,
    next: Entry | undefined,
  ): PlannedWalk<NewestFirstWalk> => ({
    ...rest,
    scope: { ...rest.scope, ...(next !== undefined && { until: next.cursor }) },
    floor: next === undefined ? floor : next.top,
    cursor,
  });
  return {
    ...segment(null, entries[0]),
    beside: entries.map(({ cursor }, index) => segment(cursor, entries[index + 1])),
  };
}

const floorShape = () =>
  z.object({
    depthMs: z.number(),
    /** The block that the walk has to go past. */
    floor: z.number(),
    /** The block from which the depth counts. */
    from: z.number(),
  });
type Floor = z.infer<ReturnType<typeof floorShape>>;

/** Stop heights for depths in ms below the covered top, the shallowest first; none: nothing is covered. */
export const floorsOf = (tx: Queryable, feed: Feed, depthsMs: readonly number[]) =>
  execute(tx).rows(floorShape)`
    select depth_ms as "depthMs", "from"::float8 as "from", floor::float8 as floor
    from etl.stop_heights(${feedName(feed)}, ${sql.param(depthsMs)}::float8[])
  `;

/** The deepest rule that is due at `at` and too long for the live lane; null: there is none. */
export async function dueDeepPoll(
  list: NewestFirstOperation,
  tx: Queryable,
  feed: Feed,
  rules: readonly ResweepRule[],
  at: Date,
): Promise<Floor | null> {
  const due = await dueDepths(tx, feed, rules, at);
  if (due.length === 0) return null;
  const deepest = (await floorsOf(tx, feed, due)).at(-1);
  return deepest === undefined || (await isShort(list, tx, feed, deepest)) ? null : deepest;
}

/** Rows that the live lane refetches in one walk: 20 pages of 50. The backfill lane reads more. */
export const shortRows = 1_000;

async function isShort(
  list: NewestFirstOperation,
  tx: Queryable,
  feed: Feed,
  { floor, from }: Floor,
): Promise<boolean> {
  const { table, height } = placeColumns(list);
  const { rows } = await tx.execute(sql`
    select from ${table}
    where chain_id = ${feed.chain_id} and ${height} between ${floor} and ${from}
    limit ${shortRows + 1}
  `);
  return rows.length <= shortRows;
}

/** Without slack (a share of the interval), a 20-minute rule on a 5-minute schedule runs every 25. */
const slackPart = 1 / 20;
const longestSlackMs = 60_000;

/** When a rule whose walks failed or were cut is retried, as a share of its interval. */
const againPart = 1 / 10;

/**
 * Due depths in ms: the interval has passed since an equally deep turn (a run's walks of one depth) began. A running
 * turn counts. A failed turn, or a cut one after an uncut one, counts for a tenth of it; one of a fast clock never.
 */
async function dueDepths(
  tx: Queryable,
  feed: Feed,
  rules: readonly ResweepRule[],
  at: Date,
): Promise<number[]> {
  if (rules.length === 0) return [];
  const judged = rules.map(({ depthMs, everyMs }) => ({
    depth_ms: depthMs,
    wait_ms: everyMs - Math.min(everyMs * slackPart, longestSlackMs),
    again_ms: everyMs * againPart,
  }));
  const longestMs = Math.max(...judged.map(({ wait_ms }) => wait_ms));
  const since = (ms: unknown) =>
    sql`${at.toISOString()}::timestamptz - make_interval(secs => ${ms}::float8 / 1000)`;
  return execute(tx).values(z.number)`
    with turn as materialized (
      select depth_ms, started_at,
             bool_and(state in ('running', 'finished')) and (
               bool_or(state = 'running') or not bool_or(cuts > 0)
               or lag(bool_or(cuts > 0)) over (partition by depth_ms order by started_at) is true
             ) as is_well
      from etl.walks
      where ${ofFeed(feed)} and depth_ms is not null and started_at > ${since(2 * longestMs)}
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
  `;
}
