import type { KeyPart, ListOrder, OrderKey } from '../lists/operation.ts';
import { inOrder, keyText } from '../lists/positions.ts';

export interface ReportedPlace {
  readonly height: number | null;
  readonly key: string | null;
  /** Unix time in ms. */
  readonly timeMs: number | null;
}

/** An item whose position other evidence confirms; `index` counts the page's items. */
export interface TrustedPlace extends OrderKey {
  readonly index: number;
  readonly timeMs: number | null;
}

export interface PageBorders {
  /** The previous page's last trusted item; null at a walk's start and after a cut. */
  readonly above: OrderKey | null;
  /** The requested position; null if its cursor cannot be read. */
  readonly entry: OrderKey | null;
  /** Whether the requested position is the previous page's last item, not this page's first. */
  readonly isEntryAbove: boolean;
  /** Where the next page begins; null if its cursor cannot be read. */
  readonly next: OrderKey | null;
}

export interface PageOrder {
  /** Items in order; empty if the page does not belong at the requested position. */
  readonly trusted: readonly TrustedPlace[];
  /**
   * The highest block that coverage may begin with: the first item's if the previous page or the requested position
   * confirms it, else the second's. No page precedes a head, and a synthetic cursor names no item: neither confirms.
   */
  readonly top: number | null;
  readonly isEntryKnown: boolean;
  /** The blocks around the page; null: unknown. */
  readonly between: { readonly from: number | null; readonly to: number | null };
  /** Items out of order: stored, but no bound of coverage. */
  readonly misplaced: readonly number[];
  /** Blocks of the misplaced items, highest first: the block may be right, the position wrong. */
  readonly claimed: readonly number[];
  /** Items without a block: stored as rows of an unknown block. */
  readonly unplaced: readonly number[];
  /** Whether nothing can be missing between the previous page and this one. */
  readonly joins: boolean;
  /** Whether the next page can be compared with this page's last item. */
  readonly leadsOn: boolean;
  /** Whether the page lacks the item that its cursor names. */
  readonly lacksEntry: boolean;
}

/** The fastest chains make a hundred a second: a larger step means that a number is wrong. */
const mostBlocksPerSecond = 1_000;
/** In s: times are rounded, and a quiet second is no evidence. */
const timeSlackS = 10;

/** If a larger part of a page is misplaced, the rest is no evidence. */
const mostMisplaced = 1 / 4;

/**
 * Judges which items of a page are in order. A number is evidence, not a fact: it is compared with the previous page,
 * the cursors' positions, the other items and their times. Pure.
 */
export function judgeOrder(reported: readonly ReportedPlace[], borders: PageBorders): PageOrder {
  const { above, entry, next } = borders;
  const ceiling = lowerOf(above, entry);
  const page = {
    isEntryKnown: entry !== null,
    between: { from: next?.height ?? null, to: ceiling?.height ?? null },
    unplaced: reported.flatMap(({ height, key }, index) =>
      height === null && key !== null ? [index] : [],
    ),
    lacksEntry: isLacking(reported, borders),
  };
  const places = reported
    .flatMap(({ height, key, timeMs }, index) =>
      height === null || key === null ? [] : [{ index, height, key, timeMs }],
    )
    .filter((place) => !isRepeat(place, borders));
  const indexes = places.map(({ index }) => index);
  if (isRenumbered(places, borders)) return { ...page, ...nowhere(indexes) };
  const placed = ceiling === null ? places : places.filter((place) => inOrder(ceiling, place));
  if (isMostlyGone(placed, places)) return { ...page, ...nowhere(indexes) };
  const within = next === null ? placed : placed.filter((place) => inOrder(place, next));
  // If most of the page contradicts its own cursor, the cursor is wrong.
  const contradicts = next !== null && within.length * 2 < placed.length;
  const trusted = longestChain(plausible(contradicts ? placed : within), inOrder);
  if (trusted.length < places.length * (1 - mostMisplaced)) return { ...page, ...nowhere(indexes) };
  const kept = new Set(trusted.map(({ index }) => index));
  const [first, second] = trusted;
  const misplaced = places.filter(({ index }) => !kept.has(index));
  return {
    ...page,
    trusted,
    top: (isConfirmed(first, borders) ? first : second)?.height ?? null,
    misplaced: misplaced.map(({ index }) => index),
    claimed: misplaced.map(({ height }) => height).toSorted((a, b) => b - a),
    joins: above !== null && (entry === null || isEntered(entry, borders, first)),
    leadsOn: !contradicts,
  };
}

/** An item without a key may be the missing one. */
const isLacking = (reported: readonly ReportedPlace[], { entry, isEntryAbove }: PageBorders) =>
  entry !== null &&
  !isEntryAbove &&
  reported.length > 0 &&
  reported.every(({ key }) => key !== null && key !== entry.key);

/**
 * Whether the page begins with the item that its cursor names, but at a higher block, and all its items may be as wrong:
 * where they would stand then is between the cursors too. One that has moved down by itself may begin a true page.
 */
function isRenumbered(
  places: readonly TrustedPlace[],
  { entry, isEntryAbove, next }: PageBorders,
): boolean {
  const [named] = places;
  if (entry === null || isEntryAbove || named?.key !== entry.key) return false;
  const tooHigh = named.height - entry.height;
  const lowest = next?.height ?? 0;
  return (
    tooHigh > 0 &&
    places.every(({ height }) => height - tooHigh <= entry.height && height - tooHigh >= lowest)
  );
}

/** Marks a page without evidence that it is of this list: none of its items bounds coverage. */
export function withoutPlace(order: PageOrder): PageOrder {
  const indexes = [...order.trusted.map(({ index }) => index), ...order.misplaced];
  return { ...order, ...nowhere(indexes.toSorted((a, b) => a - b)) };
}

/** Whether the previous page or the requested position confirms the first item's number. */
function isConfirmed(
  first: TrustedPlace | undefined,
  { above, entry, isEntryAbove }: PageBorders,
): boolean {
  if (above !== null) return true;
  if (entry === null || first === undefined) return false;
  return isEntryAbove ? entry.height - first.height <= 1 : isAt(entry, first);
}

function isEntered(
  entry: OrderKey,
  { above, isEntryAbove }: PageBorders,
  first: TrustedPlace | undefined,
): boolean {
  const named = isEntryAbove ? above : first;
  return named !== null && named !== undefined && isAt(entry, named);
}

/** Whether it repeats the previous page's last item; the item that the cursor names does not. */
function isRepeat(place: TrustedPlace, { above, entry }: PageBorders): boolean {
  if (above !== null && isAt(above, place)) return true;
  if (entry === null || inOrder(entry, place) || place.key === entry.key) return false;
  return above === null ? place.index === 0 : inOrder(above, place);
}

const nowhere = (misplaced: readonly number[]) => ({
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

/** Drops the shorter side of a step that the items' times do not allow; if equal, both. */
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

/** The longest chain of items that each may follow the one before; usually all. */
export function longestChain<Item>(
  items: readonly Item[],
  mayFollow: (before: Item, item: Item) => boolean,
): readonly Item[] {
  if (items.every((item, index) => index === 0 || mayFollow(items[index - 1] ?? item, item))) {
    return items;
  }
  // Quadratic, but a page has at most 100 items and rarely gets here.
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

/** The blocks around an item that reports none; null: unknown. */
export function blocksAround({ trusted, between }: PageOrder, index: number) {
  const above = trusted.findLast((place) => place.index < index);
  const below = trusted.find((place) => place.index > index);
  const from = below?.height ?? between.from;
  return { from, to: above?.height ?? between.to ?? from };
}

/** The positions that items report, read before they are rows: the next request needs them. */
export const reportedPlaces = (
  { fields, key }: ListOrder,
  items: readonly unknown[],
): ReportedPlace[] =>
  items.map((item) => ({
    height: heightOf(firstReported(item, fields.height)),
    key: keyOf(item, key),
    timeMs: timeOf(firstReported(item, fields.time)),
  }));

/** The first of the named fields that the item has. */
export function firstReported(item: unknown, names: readonly string[]): unknown {
  for (const name of names) {
    const value = fieldOf(item, name);
    if (value !== undefined && value !== null) return value;
  }
  return undefined;
}

/** Null if a part of the key is missing. */
function keyOf(item: unknown, key: readonly KeyPart[]): string | null {
  const parts = key.flatMap(({ names, isNumber }) => {
    const value = firstReported(item, names);
    return (isNumber ? heightOf(value) : hashOf(value)) ?? [];
  });
  return parts.length === key.length ? keyText(parts) : null;
}

/** A field as served; undefined if absent. */
function fieldOf(item: unknown, field: string): unknown {
  return typeof item === 'object' && item !== null ? Reflect.get(item, field) : undefined;
}

/** Heights have at most fifteen digits; a longer number is no block. */
function heightOf(value: unknown): number | null {
  if (typeof value === 'string') return /^\d{1,15}$/u.test(value) ? Number(value) : null;
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null;
}

const hashOf = (value: unknown) =>
  typeof value === 'string' && /^0x[0-9a-f]{64}$/iu.test(value) ? value.toLowerCase() : null;

/** A time without a zone is UTC, as the service's are. */
function timeOf(value: unknown): number | null {
  if (typeof value !== 'string') return null;
  const ms = Date.parse(/(?:Z|[+-]\d\d:?\d\d)$/iu.test(value) ? value : `${value}Z`);
  return Number.isNaN(ms) ? null : ms;
}

/** Whether all items of a page that report a time are older than one (ISO 8601), and most report theirs. */
export function isOlder(order: PageOrder | null, since: string | undefined): boolean {
  if (order === null || since === undefined) return false;
  const times = order.trusted.flatMap(({ timeMs }) => timeMs ?? []);
  const sinceMs = Date.parse(since);
  return 2 * times.length > order.trusted.length && times.every((ms) => ms < sinceMs);
}
