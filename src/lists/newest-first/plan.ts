import { sql } from 'drizzle-orm';
import { hasRows, type Queryable, valueOf } from '../../db/query.ts';
import type { Database, Transaction } from '../../db/transaction.ts';
import {
  type Feed,
  type FeedLane,
  feedName,
  hasRested,
  latestStart,
  ofFeed,
  parallelOf,
} from '../feed.ts';
import type { Occasion, PlannedWalk, Target, WalkPlan } from '../list.ts';
import type { Cursor, NewestFirstWalk } from '../operation.ts';
import {
  attemptOn,
  type BegunWalk,
  boundsOf,
  entryAbove,
  type Floor,
  floorsOf,
  type Gap,
  gapsOf,
  hasCoverage,
  isInVain,
  isRange,
  isRunning,
  itemsOf,
  liveEnd,
  type LiveEnd,
  lowestCovered,
  type NewestFirstRun,
  type NewestFirstScope,
  orderOfFeed,
  type ResweepRule,
  walksOf,
} from './coverage.ts';
import { believesEntries, entryInto, planSplit, wantedOf } from './entries.ts';

/** The gaps due at a time, the newest first; in growing intervals if walks verify nothing. */
async function gapsDue(
  tx: Queryable,
  feed: Feed,
  at: Date | 'at-once',
  run: Pick<NewestFirstRun, 'id'> | null,
): Promise<Gap[]> {
  const gaps = await gapsOf(tx, feed);
  if (gaps.length === 0 || at === 'at-once') return gaps;
  const backfill = sql`${ofFeed(feed)} and lane = 'backfill'`;
  const disordered = sql`
    ${backfill}
    and cuts > 0
    and run_id is distinct from ${run?.id ?? null}::bigint
    and id > coalesce(
      (select max(id) from etl.walks where ${backfill} and cuts = 0 and top is not null), 0
    )
  `;
  const isRested = await valueOf<boolean>(tx, sql`select ${hasRested(disordered, at)}`);
  return isRested === false ? [] : gaps;
}

/**
 * Reads from the head to the stop height, once a run, past known rows: others may be between. It ends below the
 * covered top by the overlap or the deepest short rule that is due.
 */
export async function planLiveWalk(
  tx: Transaction,
  run: NewestFirstRun,
  at: Date,
): Promise<PlannedWalk<NewestFirstWalk> | null> {
  if ((await walksOf(tx, run)).length > 0) return null;
  const { overlap_ms = 0, resweep = [] } = run.scope;
  const due = (await dueDepths(tx, run, resweep, at)).filter((depthMs) => depthMs > overlap_ms);
  const [overlap, ...deeper] = await floorsOf(tx, run, [overlap_ms, ...due]);
  // Nothing is covered.
  if (overlap === undefined) return null;
  let { depthMs, floor } = overlap;
  for (const rule of deeper) if (await isShort(tx, run, rule)) ({ depthMs, floor } = rule);
  return { scope: boundsOf(run), depthMs, floor, cursor: null };
}

/** Plans the whole list while nothing is covered; then deeper polls, gaps, parts of other walks. */
export async function planBackfillWalk(
  tx: Transaction,
  run: NewestFirstRun,
  at: Date,
): Promise<WalkPlan<NewestFirstWalk>> {
  const begun = await walksOf(tx, run);
  if (!(await hasCoverage(tx, run))) {
    if (begun.some(isRunning)) return 'wait';
    if (begun.length > 0) return null;
    // Of a list of which nothing is known, a range of blocks is a gap below its head.
    const scope = isRange(run.scope) ? { ...boundsOf(run), max_pages: 1 } : boundsOf(run);
    return { scope, floor: null, cursor: null };
  }
  if (run.scope.again === true && begun.length === 0) {
    const scope = { ...boundsOf(run), again: true };
    return planSegments(tx, run, { scope, floor: (await lowestCovered(tx, run)) || null });
  }
  const planned =
    (await planFallback(tx, run, begun)) ??
    (await planResweep(tx, run, begun, at)) ??
    (await planGap(tx, run, begun, at)) ??
    (await planSplit(tx, run, begun, at));
  // What the walks under way leave behind is not known yet.
  return planned ?? (begun.some(isRunning) ? 'wait' : null);
}

interface Entry extends Record<string, unknown> {
  readonly cursor: Cursor;
  /** The highest block on the page. */
  readonly top: number;
}

/** The shortest walk of its own, in pages: each range boundary may cost a page or two twice. */
const shortestSegment = 25;

interface Reading extends Pick<PlannedWalk<NewestFirstWalk>, 'scope' | 'floor' | 'depthMs'> {
  /** Where it begins; absent or null: the head. */
  readonly start?: LiveEnd | null;
}

/**
 * One reading as parallel walks, parted evenly by cursors of the ledger, newest first; each ends at the
 * next one's cursor, or past its first block.
 */
async function planSegments(
  tx: Queryable,
  run: NewestFirstRun,
  { floor, start, ...rest }: Reading,
): Promise<PlannedWalk<NewestFirstWalk>> {
  const { rows: entries } = await tx.execute<Entry>(sql`
    select cursor, top::float8 as top
    from etl.entries_within(
      ${feedName(run)}, ${floor ?? 0}, ${start?.bottom ?? null}::bigint,
      ${await parallelOf(tx, run)}::int, ${shortestSegment}::int
    )
  `);
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
    ...segment(start?.cursor ?? null, entries[0]),
    beside: entries.map(({ cursor }, index) => segment(cursor, entries[index + 1])),
  };
}

/** The deepest due rule that is too long for the live lane; once a run, so that a run ends. */
async function planResweep(
  tx: Transaction,
  run: NewestFirstRun,
  begun: readonly BegunWalk[],
  at: Date,
): Promise<PlannedWalk<NewestFirstWalk> | null> {
  if (run.scope.again === true || isRange(run.scope)) return null;
  const isBegun = begun.some(({ depth_ms }) => depth_ms !== null);
  if (isBegun && !begun.some((walk) => isRunning(walk) && walk.depth_ms === null)) return null;
  const due = await deepResweep(tx, run, run.scope.resweep ?? [], at);
  if (due === null) return null;
  // What is above the live lane's end is read by each poll: the rule goes on from there.
  const start = await liveEnd(tx, run);
  const [range] = await floorsOf(tx, run, [due.depthMs], start?.bottom);
  return planSegments(tx, run, {
    scope: { again: true },
    floor: range?.floor ?? due.floor,
    depthMs: due.depthMs,
    start,
  });
}

/** If stored cursors are refused, one walk from the head replaces those walks after the others. */
async function planFallback(
  tx: Transaction,
  run: NewestFirstRun,
  begun: readonly BegunWalk[],
): Promise<PlannedWalk<NewestFirstWalk> | null> {
  const again = begun.filter(({ is_again }) => is_again);
  const refused = again.filter((walk) => walk.state === 'abandoned' && !walk.from_head);
  const lowest = refused.toSorted((a, b) => a.floor - b.floor)[0];
  if (lowest === undefined || again.some(isRunning)) return null;
  if (again.some((walk) => walk.from_head && walk.floor <= lowest.floor)) return null;
  await tx.execute(sql`
    update etl.walks set depth_ms = null
    where run_id = ${run.id} and state = 'abandoned' and not from_head
  `);
  return {
    scope: { ...boundsOf(run), again: true },
    floor: lowest.floor === 0 ? null : lowest.floor,
    ...(lowest.depth_ms !== null && { depthMs: lowest.depth_ms }),
    cursor: null,
  };
}

/** Walks of a run through one gap that end with another list's page, before the gap waits. */
const mostMismatches = 2;

/** Enters the newest untried gap at the lowest item above it or the nearest stored cursor. */
async function planGap(
  tx: Transaction,
  run: NewestFirstRun,
  begun: readonly BegunWalk[],
  at: Date,
): Promise<PlannedWalk<NewestFirstWalk> | null> {
  const gaps = await gapsDue(tx, run, run.scope.at_once === true ? 'at-once' : at, run);
  const next = gaps
    .flatMap((gap) => {
      const wanted = wantedOf(gap, run.scope);
      return wanted === null
        ? []
        : [{ gap: wanted, attempts: begun.map((walk) => attemptOn(walk, wanted)) }];
    })
    .find(
      ({ attempts }) =>
        attempts.filter((attempt) => attempt === 'mismatch').length < mostMismatches &&
        !attempts.some((attempt) => attempt === 'tried' || attempt === 'under-way'),
    );
  if (next === undefined) return null;
  const { gap, attempts } = next;
  const floor = gap.from === 0 ? null : gap.from;
  if (attempts.includes('refused')) return { scope: boundsOf(run), floor, cursor: null };
  const vain = begun.filter((walk) => isInVain(walk, gap)).length;
  const entry = (await believesEntries(tx, run, at)) ? await entryInto(tx, run, gap, vain) : null;
  if (entry === null) {
    return { scope: boundsOf(run), floor, cursor: await entryAbove(tx, run, gap) };
  }
  return { scope: { ...boundsOf(run), entry }, floor, cursor: orderOfFeed(run).cursorAt(entry) };
}

/** A live lane is due beside some history, but not on start; backfill, for gaps and refetches. */
export async function isDue(
  db: Database,
  { lane, scope }: Target<NewestFirstScope>,
  occasion: Occasion,
  at: Date,
): Promise<boolean> {
  const isBegun = await hasCoverage(db, lane);
  if (lane.lane === 'live') return occasion !== 'start' && isBegun;
  if (!isBegun || scope.again === true || (await hasUnfinished(db, lane))) return true;
  if ((await deepResweep(db, lane, scope.resweep ?? [], at)) !== null) return true;
  const gaps = await gapsDue(db, lane, occasion === 'sync' ? 'at-once' : at, null);
  return gaps.some((gap) => wantedOf(gap, scope) !== null);
}

const hasUnfinished = (db: Database, lane: FeedLane): Promise<boolean> =>
  hasRows(
    db,
    sql`
      select from etl.walks as walk
      join etl.runs as run on run.id = walk.run_id and run.state in ('open', 'interrupted')
      where walk.feed = ${feedName(lane)} and walk.lane = ${lane.lane} and walk.state = 'running'
      limit 1
    `,
  );

/** Rows that the live lane refetches in one walk: 20 pages of 50. The backfill lane reads more. */
const shortRows = 1_000;

/** A rule of 20 minutes beside a schedule of 5 would run every 25 without a slack: a part of its interval. */
const slackPart = 1 / 20;
const longestSlackMs = 60_000;

/** How soon a rule is tried again if its walks failed, as a part of its interval: they may always fail. */
const againPart = 1 / 10;

/** The deepest rule that is due at `at` and too long for the live lane; null: there is none. */
export async function deepResweep(
  tx: Queryable,
  feed: Feed,
  rules: readonly ResweepRule[],
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
