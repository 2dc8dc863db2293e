import { sql } from 'drizzle-orm';
import { z } from 'zod';
import { execute, type Database, type Queryable } from '../../db/transaction.ts';
import { parseDuration } from '../../time.ts';
import { type Feed, hasUnfinished, mostWalks, ofFeed } from '../feed.ts';
import {
  about,
  atLeast,
  dayMs,
  durationSetting,
  type Estimate,
  type EstimateOptions,
  halfPage,
  likelyUpTo,
  type ListKind,
  none,
  type Occasion,
  type PollFacts,
  polling,
  pollsMeasured,
  type ScopeBounds,
  type Target,
  timeSetting,
  upTo,
  type WalkPlan,
} from '../list.ts';
import type {
  NewestFirstDefaults,
  ListUnit,
  NewestFirstOperation,
  NewestFirstWalk,
} from '../operation.ts';
import {
  dueDeepPoll,
  liveFloor,
  planAgain,
  planFallback,
  planDeepPoll,
  shortRows,
} from './deep-polls.ts';
import { writeNewestFirst } from './commit.ts';
import { judgeListEnd, removeBelow, removeUnplaced } from './ends.ts';
import { gapsDue, planGap } from './gaps.ts';
import {
  boundsOf,
  firstOperationAt,
  isRange,
  isWalkRunning,
  type NewestFirstScope,
  type ResweepRule,
  type Planned,
  type Planning,
  walksOf,
} from './run.ts';
import { planSplit } from './split.ts';

/** Beyond it `backfill --again` reads the history better. */
const deepestMs = 90 * dayMs;
const oftenestMs = 60_000;
/** Each poll judges each rule; a handful of depths is enough. */
const mostRules = 10;

const resweepRule = z.strictObject({
  depth: durationSetting
    .refine(
      (ms) => ms <= deepestMs,
      'is more than 90d: read the history again with backfill --again instead',
    )
    .describe('How far below the newest known item the poll goes, such as 1h; at most 90d.'),
  every: durationSetting
    .refine(
      (ms) => ms >= oftenestMs,
      'is less than 1m: schedules fire once a minute at most; write 1m or more',
    )
    .describe('How often, such as 8h. The rule costs depth / every of the pages that are new.'),
});

const newestFirstSettings = ({ guide, defaults }: NewestFirstOperation) =>
  z
    .strictObject({
      ...polling(
        defaults,
        `Each time costs one page (20 credits) at least, and one for every 50 ${guide.items} that are new or within the overlap; resweep adds deeper polls.`,
      ),
      overlap: durationSetting
        .prefault(defaults.overlap)
        .describe(
          `How far below the newest known item each poll goes, by the time of the ${guide.items}, because some appear behind the head. More finds later arrivals at once and costs more pages of 20 credits.`,
        ),
      resweep: z
        .array(resweepRule)
        .max(mostRules)
        .prefault([...defaults.resweep])
        .describe(
          `Deeper polls for ${guide.items} that arrive later than the overlap. Each rule costs depth / every of the pages that are new: 5m every 20m a quarter, 1h every 8h an eighth. The default costs ${shareOf(defaults.resweep)} pages of 20 credits for each page that is new. [] turns them off.`,
        ),
      since: timeSetting.describe(
        `Oldest of the ${guide.items} wanted, a date or timestamp (UTC unless it says otherwise). Without it the whole history is read, once: one page of 20 credits for every 50 ${guide.items}.`,
      ),
      parallel: z
        .int()
        .min(1)
        .max(mostWalks)
        .nullish()
        .describe(
          'How many walks read history at once, at most. Without it as many as the rate limit and the round trip call for: one walk waits for each answer. They cost 1 % more pages at most.',
        ),
    })
    .transform(({ overlap: overlapMs, resweep, parallel, ...rest }) => ({
      ...rest,
      /** Null: as many as pay. */
      parallel: parallel ?? null,
      /** How far below the covered top a live walk goes. */
      overlapMs,
      /** How deep below the covered top, and how often. */
      resweep: resweep.map(({ depth: depthMs, every: everyMs }) => ({ depthMs, everyMs })),
    }))
    .superRefine(({ overlapMs, resweep }, context) => {
      for (const [index, { depthMs }] of resweep.entries()) {
        if (depthMs > overlapMs) continue;
        const message =
          'is not deeper than overlap, which each poll reads: write more, or leave it out';
        context.addIssue({ code: 'custom', path: ['resweep', index, 'depth'], message });
      }
    })
    .describe(guide.about);

/** What rules cost together, as a part of the new pages. */
function shareOf(rules: NewestFirstDefaults['resweep']): string {
  const cost = rules.map(
    (rule) => (parseDuration(rule.depth) ?? 0) / (parseDuration(rule.every) ?? 1),
  );
  return String(Math.round(100 * cost.reduce((sum, part) => sum + part, 0)) / 100);
}

type NewestFirstSettings = z.output<ReturnType<typeof newestFirstSettings>>;

/** What `etl.list_facts` says of a list. Times are ms since 1970. */
interface ListFacts {
  readonly polls: PollFacts | null;
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
  /** Items per block on the pages around it: on all, and on the densest; null: unknown. */
  readonly near: { readonly mean: number; readonly densest: number } | null;
}

/** What is left of a list's history. */
function historyLeft(
  known: ListFacts | null,
  { since }: NewestFirstSettings,
  { pageSize }: EstimateOptions,
  unit: ListUnit,
): Estimate {
  if (known?.isBegun !== true) return atLeast(1);
  const { gaps, itemsPerBlock, blockMs } = known;
  if (gaps.length === 0) return none;
  if (itemsPerBlock === null) return atLeast(gaps.length);
  const limit = since === null ? firstOperationAt : Date.parse(since);
  // Batch numbers start at 0: no other bound is needed.
  const isBounded = since !== null || unit === 'blocks';
  let isStartKnown = true;
  let least = 0;
  let most = 0;
  for (const { from, to, endsAt, near } of gaps) {
    const blocks = to - from + 1;
    const isTimed = isBounded && from === 0 && endsAt !== null && blockMs !== null && blockMs > 0;
    const inGap = isTimed ? Math.min(blocks, Math.max(0, endsAt - limit) / blockMs) : blocks;
    const pagesAt = (density: number) => (density * inGap) / pageSize + halfPage;
    if (from === 0 && unit === 'blocks' && (since === null || !isTimed)) {
      // The list may begin just below what was read: one page reports so.
      isStartKnown = false;
      least += Math.min(1, pagesAt(itemsPerBlock));
      most += pagesAt(itemsPerBlock);
      continue;
    }
    // History is as dense as what was read, a gap in the middle as the pages around it.
    const density = from === 0 || near === null ? itemsPerBlock : near.mean;
    least += pagesAt(density);
    most += pagesAt(Math.max(density, near?.densest ?? 0));
  }
  return isStartKnown ? likelyUpTo(least, most) : upTo(least, most);
}

/** What it takes a day to keep a list current. */
function dailyUpkeep(
  known: ListFacts | null,
  { overlapMs, resweep }: NewestFirstSettings,
  { pageSize, pollsPerDay }: EstimateOptions,
): Estimate {
  if (known?.isBegun !== true) return atLeast(pollsPerDay);
  const pagesPerDay = (known.itemsPerDay ?? 0) / pageSize;
  const ofNewAndOverlap = pagesPerDay * (1 + (pollsPerDay * overlapMs) / dayMs);
  // A poll ends when it has gone past what is known: in the middle of a page, or on its first one.
  const expected = Math.max(pollsPerDay, ofNewAndOverlap + pollsPerDay * halfPage);
  const measured = pollsMeasured(known.polls, pollsPerDay);
  // What polls took includes the rules that they follow themselves.
  const isApart = ({ depthMs }: ResweepRule) =>
    measured === null || (known.itemsPerDay ?? 0) * (depthMs / dayMs) > shortRows;
  const deepPolls = resweep
    .filter(isApart)
    .reduce((sum, { depthMs, everyMs }) => sum + depthMs / everyMs, 0);
  return about((measured ?? expected) + deepPolls * pagesPerDay);
}

/** Reads from the head to the stop height, once a run, past known rows: others may be between. */
async function planLiveWalk(planning: Planning): Planned {
  if (planning.begun.length > 0) return null;
  const end = await liveFloor(planning);
  if (end === null) return null;
  return { scope: boundsOf(planning.run), depthMs: end.depthMs, floor: end.floor, cursor: null };
}

/** Plans the whole list while nothing is covered; then deeper polls, gaps, parts of other walks. */
async function planBackfillWalk(planning: Planning): Promise<WalkPlan<NewestFirstWalk>> {
  const { list, tx, run, begun } = planning;
  if (!(await hasCoverage(tx, run))) {
    if (begun.some(isWalkRunning)) return 'wait';
    if (begun.length > 0) return null;
    // A range of blocks in an unknown list is a gap below its head: one page shows it.
    const scope = isRange(run.scope) ? { ...boundsOf(run), max_pages: 1 } : boundsOf(run);
    return { scope, floor: null, cursor: null };
  }
  if (run.scope.again === true && begun.length === 0) return planAgain(planning);
  const planned =
    (await planFallback(planning)) ??
    (await planDeepPoll(planning)) ??
    (await planGap(planning)) ??
    (await planSplit(planning));
  // What the walks under way leave behind is not known yet, nor what is below a live one.
  const isOpen = begun.some(isWalkRunning) || (await isLiveRead(tx, run));
  if (planned === null && !isOpen) await removeUnplaced(list, tx, run);
  return planned ?? (isOpen ? 'wait' : null);
}

/** Whether a worker has the live lane: a slice takes a minute at most, so an older one is lost. */
const isLiveRead = (tx: Queryable, feed: Feed): Promise<boolean> =>
  execute(tx).has`
    select from etl.lanes
    where ${ofFeed(feed)} and lane = 'live' and taken_at > clock_timestamp() - interval '1 minute'
  `;

/** A live lane is due beside some history, but not on start; backfill, for gaps and refetches. */
async function isDue(
  list: NewestFirstOperation,
  db: Database,
  { lane, scope }: Target<NewestFirstScope>,
  occasion: Occasion,
  at: Date,
): Promise<boolean> {
  const isBegun = await hasCoverage(db, lane);
  if (lane.lane === 'live') return occasion !== 'start' && isBegun;
  if (!isBegun || scope.again === true || (await hasUnfinished(db, lane))) return true;
  if ((await dueDeepPoll(list, db, lane, scope.resweep ?? [], at)) !== null) return true;
  const when = occasion === 'sync' ? 'at-once' : at;
  return (await gapsDue(db, { ...lane, scope, id: null }, when)).length > 0;
}

/** Whether anything of the feed is covered yet. */
const hasCoverage = (tx: Queryable, feed: Feed): Promise<boolean> =>
  execute(tx)
    .has`select from etl.walks where ${ofFeed(feed)} and top is not null order by top limit 1`;

const boundsInBlocks = ['fromBlock', 'toBlock'] as const;

/** A list that is newest block first: a head that grows, and history that is read once. */
export const newestFirstKind = (
  list: NewestFirstOperation,
): ListKind<NewestFirstSettings, NewestFirstScope, NewestFirstWalk, ListFacts> => ({
  verifies: 'heights',
  settings: newestFirstSettings(list),
  bounds: ['since', 'maxPages', 'again', ...(list.order.unit === 'blocks' ? boundsInBlocks : [])],
  lanes,
  facts: sql`(select facts from etl.list_facts where list_facts.feed = feeds.feed)`,
  estimate: (known, settings, how) => ({
    history: historyLeft(known, settings, how, list.order.unit),
    upkeep: dailyUpkeep(known, settings, how),
  }),
  isDue: (db, target, occasion, at) => isDue(list, db, target, occasion, at),
  walksAtOnce: async (_db, { lane }) => (lane === 'live' ? 1 : mostWalks),
  noteTarget: async () => undefined,
  async nextWalk(tx, run, at) {
    const planning = { list, tx, run, begun: await walksOf(tx, run), at };
    return run.lane === 'live' ? planLiveWalk(planning) : planBackfillWalk(planning);
  },
  sample: () => ({}),
  // A repair closes gaps; what is only to be read again has its own time.
  async repairs(db, { lane, scope }) {
    const isOpen = await execute(db).has`
      select from etl.feed_gaps where ${ofFeed(lane)}
      union all
      select from etl.verification where ${ofFeed(lane)} and is_verified is not true
    `;
    return isOpen ? [{ ...scope, resweep: [] }] : [];
  },
  repairRequests: async (_db, _feed, { history }) => history,
  judgeEnd: (db, claim) => judgeListEnd(list, db, claim),
  writePages: (tx, pages, load) => writeNewestFirst(list, tx, pages, load),
  afterWalk: (tx, walk) => removeBelow(list, tx, walk),
});

function lanes(
  settings: NewestFirstSettings,
  { since = settings.since, maxPages, fromBlock, toBlock, again }: ScopeBounds,
) {
  const { resweep } = settings;
  const what = {
    ...(since !== null && { since }),
    ...(fromBlock !== undefined && { from_block: fromBlock }),
    ...(toBlock !== undefined && { to_block: toBlock }),
    ...(again === true && { again }),
  };
  // A bound in pages is for a first poll: deeper ones would be cut short by it.
  const depth = maxPages === undefined ? { resweep } : { max_pages: maxPages };
  return [
    // A live walk ends at its floor; how far back history is wanted does not concern it.
    { lane: 'live' as const, scope: { overlap_ms: settings.overlapMs, ...depth } },
    { lane: 'backfill' as const, scope: { ...what, ...depth } },
  ];
}
