import { sql } from 'drizzle-orm';
import { execute, type Queryable } from '../../db/transaction.ts';
import { type Feed, feedName, hasRested, ofFeed } from '../feed.ts';
import {
  type NewestFirstOperation,
  type OrderKey,
  cursorShape,
  type Cursor,
} from '../operation.ts';
import { itemAbove } from '../positions.ts';
import {
  type BegunWalk,
  boundsOf,
  isWalkRunning,
  type NewestFirstScope,
  type Planned,
  type Planning,
} from './run.ts';
import { z } from 'zod';

/** Enters the newest untried gap at the lowest item above it or the nearest stored cursor. */
export async function planGap({ list, tx, run, begun, at }: Planning): Planned {
  const gaps = await gapsDue(tx, run, run.scope.at_once === true ? 'at-once' : at);
  const gap = gaps.find((one) => mayTry(one, begun));
  if (gap === undefined) return null;
  const planned = { scope: boundsOf(run), floor: gap.from || null };
  if (begun.some((walk) => attemptOn(walk, gap) === 'refused')) return { ...planned, cursor: null };
  const missed = begun.filter((walk) => isMissed(walk, gap)).length;
  const isServed = await believesEntries(tx, run, at);
  const entry = isServed ? await entryInto(list, tx, run, gap, missed) : null;
  if (entry === null) return { ...planned, cursor: await entryAbove(tx, run, gap) };
  return { ...planned, scope: { ...planned.scope, entry }, cursor: list.order.cursorAt(entry) };
}

/** A range of blocks that no finished page verifies complete; both ends belong to it. */
const gapShape = () => z.object({ from: z.number(), to: z.number() });
type Gap = z.infer<ReturnType<typeof gapShape>>;

/** The gaps in a feed's coverage from a time on, the newest first: a command may want more than the configuration. */
export const gapsOf = (tx: Queryable, feed: Feed, since: string | null) =>
  execute(tx).rows(gapShape)`
    select lower(gap)::float8 as "from", (upper(gap) - 1)::float8 as "to"
    -- Once, not for each gap.
    from (
      select *, etl.reached_since(feed, ${since}::timestamptz) as lowest
      from etl.feed_coverage where ${ofFeed(feed)} offset 0
    ) as own, etl.gaps_between(lowest, highest, covered, under_way)
    where is_open
    order by gap desc
  `;

interface WantedGap extends Gap {
  /** Where the gap itself ends, above what is wanted of it. */
  readonly top: number;
}

/** The parts of due gaps that a run requests, newest first; intervals grow if walks verify nothing. */
export async function gapsDue(
  tx: Queryable,
  { scope, id, ...feed }: Feed & { readonly scope: NewestFirstScope; readonly id: number | null },
  at: Date | 'at-once',
): Promise<WantedGap[]> {
  const gaps = (await gapsOf(tx, feed, scope.since ?? null)).flatMap((gap) => {
    const from = Math.max(gap.from, scope.from_block ?? 0);
    const to = Math.min(gap.to, scope.to_block ?? gap.to);
    return from > to ? [] : [{ from, to, top: gap.to }];
  });
  if (gaps.length === 0 || at === 'at-once') return gaps;
  const backfill = sql`${ofFeed(feed)} and lane = 'backfill'`;
  const disordered = sql`
    ${backfill}
    and cuts > 0
    and run_id is distinct from ${id}::bigint
    and id > coalesce(
      (select max(id) from etl.walks where ${backfill} and cuts = 0 and top is not null), 0
    )
  `;
  const isRested = await execute(tx).value(z.boolean)`select ${hasRested(disordered, at)}`;
  return isRested === false ? [] : gaps;
}

/** Walks of a run through one gap that end with another list's page, before the gap waits. */
const mostMismatches = 2;

function mayTry(gap: WantedGap, begun: readonly BegunWalk[]): boolean {
  const attempts = begun.map((walk) => attemptOn(walk, gap));
  const mismatches = attempts.filter((attempt) => attempt === 'mismatch').length;
  if (attempts.includes('tried') || attempts.includes('under-way')) return false;
  return mismatches < mostMismatches;
}

/** Whether it entered above a gap and met nothing there: no item verifies where the gap begins. */
const isMissed = ({ entry, state, top }: BegunWalk, gap: Gap): boolean =>
  entry !== null && entry > gap.to && state === 'finished' && (top ?? 0) <= gap.to;

/**
 * How a walk of the run tried a gap; null: it tried another gap, or met nothing that was requested.
 * under-way: it goes through the gap or into it; a refetching walk may create the gap on its way.
 * mismatch: it met another list on its way, which may be a brief mistake. refused: the service refused a stored cursor
 * of its own, which leaves the head. tried: nothing is left to try.
 */
function attemptOn(
  walk: BegunWalk,
  gap: Gap,
): 'under-way' | 'mismatch' | 'refused' | 'tried' | null {
  const { bottom, entry, floor, state, reason, pages, is_again, from_head } = walk;
  if (isWalkRunning(walk) && gap.to >= floor) {
    const from = bottom ?? entry;
    if (from === null ? is_again : gap.from <= from) return 'under-way';
  }
  const isLost =
    entry !== null &&
    ((state === 'abandoned' && pages === 0) ||
      reason === 'misplaced-entry' ||
      reason === 'empty-entry');
  if (isLost || floor !== gap.from) return null;
  if (reason === 'cursor-mismatch') return 'mismatch';
  if (state === 'abandoned' && (is_again || !from_head)) return 'refused';
  return is_again || isMissed(walk, gap) ? null : 'tried';
}

/** How long refused synthetic cursors are remembered: one request a day tries again. */
const memory = '1 day';
/** Walks in a row that fail before they arrive, of whatever failure: an outage fails many. */
const mostFailures = 3;
/** Stored items above a gap that are tried as entries; those that have left the list lead nowhere. */
const mostEntries = 5;

/** Whether the service serves synthetic cursors: it may refuse one, or take it for something else. */
export const believesEntries = (tx: Queryable, feed: Feed, at: Date): Promise<boolean> =>
  execute(tx).has`
    with entered as (
      select id, state, failure, reason, pages
      from etl.walks
      where ${ofFeed(feed)}
        and started_at > ${at.toISOString()}::timestamptz - ${memory}::interval
        and scope ? 'entry'
    )
    select where not exists (
      select from entered
      where reason = 'misplaced-entry' or (failure = 'cursor-refused' and pages = 0)
    ) and (
      select count(*) < ${mostFailures}
      from entered
      where state = 'abandoned' and pages = 0 and reason <> 'superseded'
        and id > coalesce((select max(id) from entered where pages > 0), 0)
    )
  `;

/** Items between a synthetic cursor and the range that it leads to: one at least verifies the range. */
const itemsAtEntry = 25;

/**
 * A position to enter a gap at: the lowest stored item above it or, inside it, a little above the
 * requested part, because a walk verifies nothing above its first item. For each of `missed` walks that met nothing
 * there, the next item or twice the distance. Null: no stored item leads in.
 */
async function entryInto(
  list: NewestFirstOperation,
  tx: Queryable,
  feed: Feed,
  gap: WantedGap,
  missed: number,
): Promise<OrderKey | null> {
  const items = itemsAtEntry * 2 ** missed;
  const blocks = await execute(tx).value(z.number)`
    select (${items} * sum(spanned_blocks) / nullif(sum(spanned_items), 0))::float8 as blocks
    from etl.coverage
    where ${ofFeed(feed)}
  `;
  const { topOf } = list.order;
  const height = gap.to + Math.ceil(blocks ?? items);
  if (gap.to < gap.top && height < gap.top) return topOf(height);
  return missed < mostEntries ? itemAbove(list, tx, feed.chain_id, topOf(gap.top), missed) : null;
}

/** The stored cursor nearest above a gap that still leads in; null: only the head does. */
const entryAbove = (tx: Queryable, feed: Feed, gap: Gap): Promise<Cursor | null> =>
  execute(tx).value(cursorShape)`select etl.entry_above(${feedName(feed)}, ${gap.to})`;
