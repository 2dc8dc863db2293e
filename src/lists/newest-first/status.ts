import { sql, type SQL } from 'drizzle-orm';
import {
  about,
  atLeast,
  dayMs,
  type Estimate,
  type EstimateOptions,
  halfPage,
  type KindStatus,
  likelyUpTo,
  none,
  upTo,
} from '../list.ts';
import type { FeedSettings } from '../settings.ts';
import { firstOperationAt, type ResweepRule } from './coverage.ts';

/**
 * As SQL: a walk that ended at its stop height is prunable, unless it is the newest of its like:
 * that one shows where the list begins, where the live lane ended and when a rule was followed.
 */
const isPrunable = (at: Date): SQL => sql`
  later.reason = 'floor'
  and later.cuts = 0
  and later.is_ordered
  and (
    -- The next of its like, by their ids: a semi-join would hold each walk against all others.
    select true from etl.walks as newer
    where newer.feed = later.feed
      and newer.id > later.id
      and newer.started_at >= later.started_at
      and newer.state = 'finished'
      and newer.reason = 'floor'
      and newer.cuts = 0
      and newer.lane = later.lane
      and newer.from_head = later.from_head
      and (newer.cursor is null) = (later.cursor is null)
      and (newer.top is null) = (later.top is null)
    order by newer.feed, newer.id
    limit 1
  )
  and later.started_at < ${at.toISOString()}::timestamptz - coalesce(
    (
      select max((rule ->> 'everyMs')::float8) * interval '1 millisecond'
      from etl.feeds, jsonb_array_elements(settings -> 'resweep') as rule
      where feeds.feed = later.feed
    ),
    '0'
  )
  and not exists (
    -- It confirms another walk that skips the same items.
    select from etl.pages where pages.walk_id = later.id and (jumped is not null or not is_ordered)
  )
`;

/** What `etl.list_facts` says of a list. Times are ms since 1970. */
export interface ListFacts {
  readonly isBegun: boolean;
  readonly gaps: readonly ListGap[];
  /** Items of the walks by the blocks that they went over. */
  readonly itemsPerBlock: number | null;
  readonly blockMs: number | null;
  /** Of the newest stored items: how many come in a day of block time. */
  readonly itemsPerDay: number | null;
}

interface ListGap {
  readonly from: number;
  readonly to: number;
  /** When the lowest item above it was. */
  readonly endsAt: number | null;
  /** Of the pages above and below it; null: none is known. */
  readonly near: NearDensity | null;
}

/** Items by the blocks that pages went over: of all of them, and of the densest one. */
interface NearDensity {
  readonly mean: number;
  readonly densest: number;
}

/** Settings that decide what a list costs. */
interface EstimatedBy {
  readonly since: string | null;
  readonly overlapMs: number;
  readonly resweep: readonly ResweepRule[];
}

/** What is left of a list's history. */
function history(
  known: ListFacts | null,
  { since }: EstimatedBy,
  { pageSize, unit }: EstimateOptions,
): Estimate {
  if (known?.isBegun !== true) return atLeast(1);
  const { gaps, itemsPerBlock, blockMs } = known;
  if (gaps.length === 0) return none;
  if (itemsPerBlock === null) return atLeast(gaps.length);
  const limit = since === null ? firstOperationAt : Date.parse(since);
  // Batches are numbered from the first one on: that there are none below 0 is bound enough.
  const isBounded = since !== null || unit === 'blocks';
  let isStartKnown = true;
  let least = 0;
  let most = 0;
  for (const { from, to, endsAt, near } of gaps) {
    const blocks = to - from + 1;
    const isTimed = isBounded && from === 0 && endsAt !== null && blockMs !== null && blockMs > 0;
    const inGap = isTimed ? blocksSince(limit, endsAt, blockMs, blocks) : blocks;
    const pagesAt = (density: number) => (density * inGap) / pageSize + halfPage;
    if (from === 0 && unit === 'blocks' && (since === null || !isTimed)) {
      // The list may begin just below what was read: one page reports so.
      isStartKnown = false;
      least += Math.min(1, pagesAt(itemsPerBlock));
      most += pagesAt(itemsPerBlock);
      continue;
    }
    // History is as all that was read of it, a gap in the middle as what is around it.
    const density = from === 0 || near === null ? itemsPerBlock : near.mean;
    least += pagesAt(density);
    most += pagesAt(Math.max(density, near?.densest ?? 0));
  }
  return isStartKnown ? likelyUpTo(least, most) : upTo(least, most);
}

const blocksSince = (limit: number, endsAt: number, blockMs: number, blocks: number) =>
  Math.min(blocks, Math.max(0, endsAt - limit) / blockMs);

/** What it takes a day to keep a list current. */
function upkeep(
  known: ListFacts | null,
  { overlapMs, resweep }: EstimatedBy,
  { pageSize, pollsPerDay }: EstimateOptions,
): Estimate {
  if (known?.isBegun !== true) return atLeast(pollsPerDay);
  const pagesPerDay = (known.itemsPerDay ?? 0) / pageSize;
  const ofNewAndOverlap = pagesPerDay * (1 + (pollsPerDay * overlapMs) / dayMs);
  // A poll ends when it has gone past what is known: in the middle of a page, or on its first one.
  const polls = Math.max(pollsPerDay, ofNewAndOverlap + pollsPerDay * halfPage);
  const again = resweep.reduce((sum, { depthMs, everyMs }) => sum + depthMs / everyMs, 0);
  return about(polls + again * pagesPerDay);
}

export const newestFirstStatus = {
  name: 'newest-first',
  hasHistory: true,
  readsAgain: sql`later.verified @> int8range(item.from_block, item.to_block, '[]')`,
  isPrunable,
  covers: (unit) => unit,
  facts: sql`(select facts from etl.list_facts where list_facts.feed = feeds.feed)`,
  estimate: (known, settings, how) => ({
    history: history(known, settings, how),
    upkeep: upkeep(known, settings, how),
  }),
} satisfies Omit<
  KindStatus<FeedSettings & EstimatedBy, ListFacts>,
  'settings' | 'bounds' | 'isBounded' | 'examples'
>;
