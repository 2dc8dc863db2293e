import type { Database } from '../db/transaction.ts';
import { pagesPerNumber } from './ribbon-cost.ts';
import { ribbonExtent, wholeWindow } from './ribbon-extent.ts';
import {
  bucketsOf,
  segmentsOf,
  type RibbonSegment,
  type RibbonState,
  type RibbonWindow,
} from './ribbon-state.ts';
import { newestWindow, timeBelow, type TimedNumber } from './ribbon-times.ts';
import { walksOfSegments, type SegmentWalks } from './ribbon-walks.ts';
import { ribbonParts, type RibbonFeed, type RibbonKind } from './ribbon.ts';

/** Which part of a list is looked at: all, its newest time, or some numbers of it. */
export type RibbonChoice =
  | { readonly of: 'all' }
  | { readonly of: 'newest'; readonly spanMs: number }
  | ({ readonly of: 'numbers' } & RibbonWindow);

/** A list as a ribbon shows it. */
export interface Ribbon {
  readonly window: RibbonWindow;
  readonly whole: RibbonWindow;
  readonly buckets: number;
  readonly segments: readonly (RibbonSegment & {
    readonly walks: SegmentWalks | null;
    readonly fromAt: number | null;
    readonly toAt: number | null;
  })[];
  readonly ticks: readonly { readonly height: number; readonly at: number | null }[];
  /** About so many pages a number; null: not known. */
  readonly pagesPerNumber: number | null;
}

/** A bar of a thousand pixels has four of them for each. */
const mostBuckets = 240;
/** Segments whose times and walks are looked up: the others are told when somebody looks closer. */
const mostDetailed = 24;
const tickCount = 5;

/** Reads one ribbon: what is bounded however long the history is. Null: nothing of the list is known. */
export async function readRibbon(
  db: Database,
  feed: RibbonFeed,
  kind: RibbonKind,
  { choice, share }: { readonly choice: RibbonChoice; readonly share: number | null },
): Promise<Ribbon | null> {
  const extent = await ribbonExtent(db, feed, kind);
  if (extent === null) return null;
  const whole = wholeWindow(extent, share);
  const window =
    choice.of === 'newest'
      ? await newestWindow(db, feed, kind, { extent, spanMs: choice.spanMs })
      : choice.of === 'numbers'
        ? clip(choice, whole)
        : whole;
  const buckets = bucketsOf(window, mostBuckets);
  const parts = await ribbonParts(db, feed, kind, { window, buckets });
  const segments = segmentsOf(window, buckets, parts);
  const detailed = segments
    .toSorted((one, other) => other.last - other.first - (one.last - one.first))
    .slice(0, mostDetailed);
  const borne = detailed.filter(({ state }) => isBorneOut(state));
  const walks = await walksOfSegments(db, feed, kind, borne);
  const time = timesWithin(db, feed, kind, window);
  const told = [];
  for (const segment of segments) {
    const isDetailed = detailed.includes(segment);
    told.push({
      ...segment,
      walks: walks[borne.indexOf(segment)] ?? null,
      fromAt: isDetailed ? ((await time(segment.from))?.at ?? null) : null,
      toAt: isDetailed ? ((await time(segment.to))?.at ?? null) : null,
    });
  }
  const ticks = [];
  for (const height of ticksOf(window)) {
    ticks.push({ height, at: (await time(height))?.at ?? null });
  }
  return {
    window,
    whole,
    buckets,
    segments: told,
    ticks,
    pagesPerNumber: await pagesPerNumber(db, feed),
  };
}

/** Whether walks stand behind what is said of it: nobody's walk shows that something is missing. */
const isBorneOut = (state: RibbonState): boolean =>
  ['proved', 'doubtful', 'reading', 'waiting'].includes(state);

/** The part of all of it that was asked for; all of it, where that is none. */
function clip({ from, to }: RibbonWindow, whole: RibbonWindow): RibbonWindow {
  const [low, high] = [Math.max(whole.from, from), Math.min(whole.to, to)];
  return low > high ? whole : { from: low, to: high };
}

const ticksOf = ({ from, to }: RibbonWindow): number[] => [
  ...new Set(
    Array.from(
      { length: tickCount },
      (_, at) => from + Math.round(((to - from) * at) / (tickCount - 1)),
    ),
  ),
];

/**
 * The time of a number, by the nearest stored item at or below it. One that is further away than some pixels of
 * the bar tells nothing of it.
 */
function timesWithin(db: Database, feed: RibbonFeed, kind: RibbonKind, { from, to }: RibbonWindow) {
  const nearest = Math.max(1, Math.ceil((to - from) / 100));
  return async (height: number): Promise<TimedNumber | null> => {
    const found = await timeBelow(db, feed, kind, height);
    return found === null || height - found.height > nearest ? null : found;
  };
}
