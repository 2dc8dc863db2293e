import type { ListOrder, OrderKey } from '../lists/operation.ts';
import { inOrder } from '../lists/positions.ts';

/** What an item reports of its place in a list that is newest first. */
export interface ReportedPlace {
  readonly height: number | null;
  readonly key: string | null;
  /** Unix time in ms. */
  readonly timeMs: number | null;
}

/** An item whose place other evidence confirms; `index` counts the page's items. */
export interface TrustedPlace extends OrderKey {
  readonly index: number;
  readonly timeMs: number | null;
}

/** What a page stands between. */
export interface PageBorders {
  /** The last trusted item of the page before; null at a walk's start and behind a cut. */
  readonly above: OrderKey | null;
  /** Where the page was requested, if its cursor can be read. */
  readonly entry: OrderKey | null;
  /** Whether that is the last item of the page before, and not the first one of this. */
  readonly isEntryAbove: boolean;
  /** Where the next page begins, if its cursor can be read. */
  readonly next: OrderKey | null;
}

/** A page's items held against the list's order. */
export interface PageOrder {
  /** Those in order, in that order; empty if the page is not where it was requested. */
  readonly trusted: readonly TrustedPlace[];
  /**
   * The highest block that coverage may begin with: the first item's if the page before or the requested
   * position confirms it, else the second's. Nothing above a head's first item does, nor a
   * position that was made and names no item.
   */
  readonly top: number | null;
  /** Whether the requested position is known. */
  readonly isEntryKnown: boolean;
  /** Between which blocks the page stands; null: not known. */
  readonly between: { readonly from: number | null; readonly to: number | null };
  /** Items that are out of order: stored, and no bound of coverage. */
  readonly misplaced: readonly number[];
  /** The blocks that those name, the highest first: each may be right, and the place wrong. */
  readonly claimed: readonly number[];
  /** Items that report no block: they are rows of the list, of an unknown block. */
  readonly unplaced: readonly number[];
  /** Whether nothing can be missing between the page before and this one's first item. */
  readonly joins: boolean;
  /** Whether the next page can be held against this one's last item. */
  readonly leadsOn: boolean;
  /** Whether the page lacks the item that the requested position names. */
  readonly lacksEntry: boolean;
}

/**
 * More blocks than any chain makes in a second: the fastest make a hundred. A step between two items
 * that is wider than their times allow is a wrong number on one side of it.
 */
const mostBlocksPerSecond = 1_000;
/** Times are rounded, and a quiet second says nothing, in s. */
const timeSlackS = 10;

/** If more than this part of a page is misplaced, the rest says nothing. */
const mostMisplaced = 1 / 4;

/**
 * Judges which items of a page stand where the list's order puts them. A number is evidence, not a fact:
 * the page before, the positions that the cursors name, the other items and their times are held
 * against each one. Pure.
 */
export function judgeOrder(reported: readonly ReportedPlace[], borders: PageBorders): PageOrder {
  const ceiling = lowerOf(borders.above, borders.entry);
  const between = { from: borders.next?.height ?? null, to: ceiling?.height ?? null };
  const unplaced = reported.flatMap(({ height, key }, index) =>
    height === null && key !== null ? [index] : [],
  );
  const isEntryKnown = borders.entry !== null;
  const lacksEntry = isLacking(reported, borders);
  return {
    ...judgePlaces(reported, borders, ceiling),
    isEntryKnown,
    between,
    unplaced,
    lacksEntry,
  };
}

/** An item without a key may be the one. */
const isLacking = (reported: readonly ReportedPlace[], { entry, isEntryAbove }: PageBorders) =>
  entry !== null &&
  !isEntryAbove &&
  reported.length > 0 &&
  reported.every(({ key }) => key !== null && key !== entry.key);

/** A page of which nothing shows that it is of this list: no item of it bounds anything. */
export function withoutPlace(order: PageOrder): PageOrder {
  const indexes = [...order.trusted.map(({ index }) => index), ...order.misplaced];
  return { ...order, ...nowhere(indexes.toSorted((a, b) => a - b)) };
}

type Judged = Omit<PageOrder, 'isEntryKnown' | 'between' | 'unplaced' | 'lacksEntry'>;

function judgePlaces(
  reported: readonly ReportedPlace[],
  borders: PageBorders,
  ceiling: OrderKey | null,
): Judged {
  const places = reported
    .flatMap(({ height, key, timeMs }, index) =>
      height === null || key === null ? [] : [{ index, height, key, timeMs }],
    )
    .filter((place) => !isRepeat(place, borders));
  const placed = ceiling === null ? places : places.filter((place) => inOrder(ceiling, place));
  if (isMostlyGone(placed, places)) return nowhere(places.map(({ index }) => index));
  const { next } = borders;
  const within = next === null ? placed : placed.filter((place) => inOrder(place, next));
  // A cursor that most of its own page contradicts is the one that is wrong.
  const contradicts = next !== null && within.length * 2 < placed.length;
  const trusted = longestChain(plausible(contradicts ? placed : within), inOrder);
  if (trusted.length < places.length * (1 - mostMisplaced))
    return nowhere(places.map(({ index }) => index));
  const kept = new Set(trusted.map(({ index }) => index));
  const [first, second] = trusted;
  const misplaced = places.filter(({ index }) => !kept.has(index));
  return {
    trusted,
    top: (isConfirmed(first, borders) ? first : second)?.height ?? null,
    misplaced: misplaced.map(({ index }) => index),
    claimed: misplaced.map(({ height }) => height).toSorted((a, b) => b - a),
    joins:
      borders.above !== null &&
      (borders.entry === null || isEntered(borders.entry, borders, first)),
    leadsOn: !contradicts,
  };
}

/**
 * Whether other evidence confirms the number of a page's first item: the page before, or a position that
 * names just this item.
 */
function isConfirmed(
  first: TrustedPlace | undefined,
  { above, entry, isEntryAbove }: PageBorders,
): boolean {
  if (above !== null) return true;
  if (entry === null || first === undefined) return false;
  return isEntryAbove ? entry.height - first.height <= 1 : isAt(entry, first);
}

/** Whether a page goes on at the requested position. */
function isEntered(
  entry: OrderKey,
  { above, isEntryAbove }: PageBorders,
  first: TrustedPlace | undefined,
): boolean {
  const named = isEntryAbove ? above : first;
  return named !== null && named !== undefined && isAt(entry, named);
}

/**
 * What is above the requested position, and not above the page before: the last item once more,
 * as some services begin a page. It says nothing new. The item of the position itself is none.
 */
function isRepeat(place: TrustedPlace, { above, entry }: PageBorders): boolean {
  if (above !== null && isAt(above, place)) return true;
  if (entry === null || inOrder(entry, place) || place.key === entry.key) return false;
  return above === null ? place.index === 0 : inOrder(above, place);
}

const nowhere = (misplaced: readonly number[]): Judged => ({
  trusted: [],
  top: null,
  misplaced,
  claimed: [],
  joins: false,
  leadsOn: false,
});

const isMostlyGone = (left: readonly unknown[], all: readonly unknown[]) =>
  all.length > 0 && left.length * 2 <= all.length;

const isAt = (a: OrderKey, b: OrderKey) => a.height === b.height && a.key === b.key;

function lowerOf(a: OrderKey | null, b: OrderKey | null): OrderKey | null {
  if (a === null || b === null) return a ?? b;
  return inOrder(a, b) ? b : a;
}

/**
 * Leaves out the shorter side of a step that the items' times do not allow; of two equal sides neither
 * is known to be right.
 */
function plausible(places: readonly TrustedPlace[]): readonly TrustedPlace[] {
  const step = places.findIndex((place, index) => {
    const before = places[index - 1];
    return before !== undefined && !isPossible(before, place);
  });
  if (step === -1) return places;
  const [above, below] = [places.slice(0, step), places.slice(step)];
  if (above.length === below.length) return [];
  return above.length > below.length ? above : plausible(below);
}

function isPossible(a: TrustedPlace, b: TrustedPlace): boolean {
  if (a.timeMs === null || b.timeMs === null) return true;
  const seconds = Math.abs(a.timeMs - b.timeMs) / 1_000 + timeSlackS;
  return Math.abs(a.height - b.height) <= seconds * mostBlocksPerSecond;
}

/** The most items of which each may follow on the one before; all of them, as a rule. */
function longestChain<Item>(
  items: readonly Item[],
  mayFollow: (before: Item, item: Item) => boolean,
): readonly Item[] {
  if (items.every((item, index) => index === 0 || mayFollow(items[index - 1] ?? item, item))) {
    return items;
  }
  // A page has 50 items, 100 at most: the plain way is quick enough, and seldom taken.
  const best: { readonly length: number; readonly from: number }[] = [];
  for (const item of items) {
    let longest = { length: 1, from: -1 };
    for (const [earlier, { length }] of best.entries()) {
      const before = items[earlier] ?? item;
      if (mayFollow(before, item) && length >= longest.length) {
        longest = { length: length + 1, from: earlier };
      }
    }
    best.push(longest);
  }
  const lengths = best.map(({ length }) => length);
  const chain: Item[] = [];
  let at = lengths.lastIndexOf(Math.max(...lengths));
  while (at !== -1) {
    const item = items[at];
    if (item !== undefined) chain.unshift(item);
    at = best[at]?.from ?? -1;
  }
  return chain;
}

/** Between which blocks an item stands that reports no place; null: unknown. */
export function blocksAround({ trusted, between }: PageOrder, index: number) {
  const above = trusted.findLast((place) => place.index < index);
  const below = trusted.find((place) => place.index > index);
  const from = below?.height ?? between.from;
  return { from, to: above?.height ?? between.to ?? from };
}

/**
 * What items as served report of their places: read by name, before they are rows, because the next
 * request waits for nothing else.
 */
export const reportedPlaces = (
  { fields, columns }: ListOrder,
  items: readonly unknown[],
): ReportedPlace[] =>
  items.map((item) => ({
    height: heightOf(firstReported(item, fields.height)),
    key:
      columns.key === columns.height
        ? heightKey(item, fields.key)
        : keyOf(firstReported(item, fields.key)),
    timeMs: timeOf(firstReported(item, fields.time)),
  }));

/** A field under the first of its names that the item has. */
export const firstReported = (item: unknown, names: readonly string[]): unknown =>
  names.map((name) => fieldOf(item, name)).find((value) => value !== undefined && value !== null);

/** The key of an item that is identified by its height. */
const heightKey = (item: unknown, names: readonly string[]) =>
  heightOf(firstReported(item, names))?.toString() ?? null;

/** A field of an item as it was served; undefined where the item has none, or is none. */
function fieldOf(item: unknown, field: string): unknown {
  return typeof item === 'object' && item !== null ? Reflect.get(item, field) : undefined;
}

/** Heights have fifteen digits at most: what is longer is no number of a block. */
function heightOf(value: unknown): number | null {
  if (typeof value === 'string') return /^\d{1,15}$/u.test(value) ? Number(value) : null;
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null;
}

const keyOf = (value: unknown) =>
  typeof value === 'string' && /^0x[0-9a-f]{64}$/iu.test(value) ? value.toLowerCase() : null;

/** A time without a zone is UTC, as the service's are. */
function timeOf(value: unknown): number | null {
  if (typeof value !== 'string') return null;
  const ms = Date.parse(/(?:Z|[+-]\d\d:?\d\d)$/iu.test(value) ? value : `${value}Z`);
  return Number.isNaN(ms) ? null : ms;
}

/** An item that reports its time, by its place. */
export interface TimedPlace {
  readonly height: number;
  /** Unix time in ms. */
  readonly timeMs: number;
}

/** Chains speed up and pause: between two items lies at most this many times what their blocks usually take. */
const mostPace = 3;
/** Of fewer items one or two may be wrong. */
const fewest = 4;
/** Times are rounded, and batches are posted a little out of turn, in ms. */
const slackMs = 10_000;

/** The items of a page that are in order and report their time. */
export const timedPlaces = (order: PageOrder | null): TimedPlace[] =>
  order?.trusted.flatMap(({ height, timeMs }) => (timeMs === null ? [] : [{ height, timeMs }])) ??
  [];

/**
 * The time to which a page certainly goes back, Unix time in ms: that of the last but one of the items
 * whose times agree with each other and with the block numbers, if these are most of the page and of
 * what is above it. If they are not, or if their times stand still while the blocks go on, the page has
 * to confirm what the page above says: blocks of some chains come in bursts, so no pace fits most of
 * them. Then it is the later of both middle times. Null: nothing confirms the page yet. Pure.
 */
export function goesBackTo(
  above: readonly TimedPlace[],
  page: readonly TimedPlace[],
): number | null {
  if (above.length < fewest) return null;
  const all = [...above, ...page];
  const agreed = agreeing(all);
  const [first, last, lastButOne] = [agreed[0], agreed.at(-1), agreed.at(-2)];
  if (first === undefined || last === undefined || lastButOne === undefined) return null;
  const standsStill = first.height > last.height && first.timeMs <= last.timeMs;
  if (agreed.length * 2 > all.length && !standsStill) {
    return Math.max(last.timeMs, lastButOne.timeMs);
  }
  const [upper, lower] = [middleTime(above), middleTime(page)];
  return upper === null || lower === null ? null : Math.max(upper, lower);
}

/**
 * The time that half of the items are older than. Null of fewer than four, of which one or two may be
 * wrong, and if most report one time: a service that lost its times says the same of every page.
 */
function middleTime(items: readonly TimedPlace[]): number | null {
  const times = items.map(({ timeMs }) => timeMs).toSorted((a, b) => a - b);
  const [early, middle, late] = [1, 2, 3].map(
    (part) => times[Math.floor((times.length * part) / 4)],
  );
  return times.length < fewest || early === late ? null : (middle ?? null);
}

/** The most items, in the order of the list, between which as much time lies as their blocks allow. */
function agreeing(items: readonly TimedPlace[]): readonly TimedPlace[] {
  const msPerBlock = paceOf(items);
  return longestChain(items, (a, b) => {
    const ms = a.timeMs - b.timeMs;
    return ms >= -slackMs && ms <= slackMs + mostPace * msPerBlock * (a.height - b.height);
  });
}

/**
 * What a block usually takes: the median over items a quarter of the list apart. If one part of two
 * has wrong times, most of these pairs do not cross from one to the other.
 */
function paceOf(items: readonly TimedPlace[]): number {
  const apart = Math.max(1, Math.floor(items.length / 4));
  const paces = items.flatMap((item, index) => {
    const below = items[index + apart];
    if (below === undefined || below.height >= item.height) return [];
    return [(item.timeMs - below.timeMs) / (item.height - below.height)];
  });
  const median = paces.toSorted((a, b) => a - b)[Math.floor((paces.length - 1) / 2)];
  return Math.max(0, median ?? 0);
}
