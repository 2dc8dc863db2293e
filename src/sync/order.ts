import { utc } from '../lists/item-rows.ts';
import type { KeyPart, ListOrder, OrderKey } from '../lists/operation.ts';
import { inOrder, keyText } from '../lists/positions.ts';

export interface ReportedPlace {
  readonly height: number | null;
  readonly key: string | null;
  /** Unix time in ms. */
  readonly timeMs: number | null;
}

/** An item that reports its position; `index` counts the page's items. */
export interface PlacedItem extends OrderKey {
  readonly index: number;
  readonly timeMs: number | null;
}

export interface PageBorders {
  /** The previous page's last item in order; null at a walk's start and after a cut. */
  readonly previousLast: OrderKey | null;
  /** The requested position; null if its cursor cannot be read. */
  readonly entry: OrderKey | null;
  /** Whether the requested position is the previous page's last item, not this page's first. */
  readonly isEntryAbove: boolean;
  /** Where the next page begins; null if its cursor cannot be read. */
  readonly next: OrderKey | null;
}

/** What a page is of its list. Everything that is concluded from the page reads this. */
export interface PageOrder {
  readonly borders: PageBorders;
  /** Items whose positions other evidence confirms; none: nothing shows that the page belongs where it was requested. */
  readonly inOrder: readonly PlacedItem[];
  /**
   * The other items: they are stored, but bound nothing. `height`: the block that the item names, which may be right;
   * null: none, or no page above confirms it.
   */
  readonly others: readonly { readonly index: number; readonly height: number | null }[];
  /** Whether the next page can be compared with this page's last item. */
  readonly leadsOn: boolean;
}

/** The fastest chains make a hundred a second: a larger step means that a number is wrong. */
const mostBlocksPerSecond = 1_000;
/** In s: times are rounded, and a quiet second is no evidence. */
const timeSlackS = 10;

/** If a larger part of a page is misplaced, the rest is no evidence. */
const mostMisplaced = 1 / 4;

/** Judges which items are in order. A number is evidence, not a fact: cursors, other items and times must allow it. Pure. */
export function judgeOrder(reported: readonly ReportedPlace[], borders: PageBorders): PageOrder {
  const ceiling = ceilingOf(borders);
  const { next } = borders;
  const named = reported.flatMap(({ height, key, timeMs }, index) =>
    height === null || key === null ? [] : [{ index, height, key, timeMs }],
  );
  // Only what is listed first can be a repeat: an item below, with such a number, has another place.
  const own = named.findIndex((place, at) => !isRepeat(place, named[at + 1], borders));
  const places = own === -1 ? [] : named.slice(own);
  // What no page above confirms may be any item, with any number.
  const isUnknown = borders.previousLast === null && !borders.isEntryAbove;
  const repeats = isUnknown ? named.slice(0, named.length - places.length) : [];
  const unplaced = reported.flatMap(({ height, key }, index) =>
    key !== null && (height === null || repeats.some((place) => place.index === index))
      ? [{ index, height: null }]
      : [],
  );
  const sorted = (inOrderOnly: readonly PlacedItem[], leadsOn: boolean): PageOrder => {
    const kept = new Set(inOrderOnly.map(({ index }) => index));
    const others = [...places.filter(({ index }) => !kept.has(index)), ...unplaced];
    return { borders, inOrder: inOrderOnly, others, leadsOn };
  };
  const isBelow = (place: OrderKey) =>
    ceiling === null ||
    (inOrder(ceiling, place) && !(borders.isEntryAbove && isAt(ceiling, place)));
  const placed = places.filter(isBelow);
  if (isRenumbered(places, borders)) return sorted([], false);
  const within = next === null ? placed : placed.filter((place) => inOrder(place, next));
  // If most of the page contradicts its own cursor, the cursor is wrong.
  const contradicts = next !== null && within.length * 2 < placed.length;
  const longest = longestChain(plausible(contradicts ? placed : within), inOrder);
  const isEvidence = longest.length >= places.length * (1 - mostMisplaced);
  return isEvidence ? sorted(longest, !contradicts) : sorted([], false);
}

/** A page without evidence that it is of this list: none of its items bounds coverage. */
export const withoutPlace = (order: PageOrder): PageOrder => ({
  ...order,
  inOrder: [],
  others: [...order.inOrder, ...order.others],
  leadsOn: false,
});

/** Whether a page has items, of which none is known to belong where it was requested. */
const isForeign = ({ inOrder: items, leadsOn }: PageOrder): boolean =>
  items.length === 0 && !leadsOn;

/** Whether a page lacks the item that its cursor names, or has it at a lower block, as if its numbers were too low. */
export const lacksEntry = (
  reported: readonly ReportedPlace[],
  { entry, isEntryAbove }: PageBorders,
): boolean =>
  entry !== null &&
  !isEntryAbove &&
  reported.length > 0 &&
  reported.every(
    ({ key, height }) => key !== entry.key || (height !== null && height < entry.height),
  );

/** Whether an item without a key may be the one that the cursor names. */
export const mayListEntry = (reported: readonly ReportedPlace[], { entry }: PageBorders): boolean =>
  reported.some(({ key, height }) => key === null && (height === null || height === entry?.height));

/** Indexes of the items out of order; 'all': the page does not belong where it was requested. */
export type Misplaced = readonly number[] | 'all';

export function misplacedIn(order: PageOrder | null): Misplaced {
  if (order === null) return [];
  if (isForeign(order)) return 'all';
  return order.others.map(({ index }) => index);
}

/** The blocks that items out of order name, highest first. */
export const claimedBy = ({ others }: PageOrder): readonly number[] =>
  others.flatMap(({ height }) => height ?? []).toSorted((a, b) => b - a);

/**
 * The highest block that coverage may begin with: the first item's if the previous page or the requested position
 * confirms it, else the second's. No page precedes a head, and a synthetic cursor names no item: neither confirms.
 */
export function topOf({ inOrder: [first, second], borders }: PageOrder): number | null {
  const { previousLast, entry, isEntryAbove } = borders;
  const isConfirmed =
    previousLast !== null ||
    (entry !== null &&
      first !== undefined &&
      (isEntryAbove ? entry.height - first.height <= 1 : isAt(entry, first)));
  return (isConfirmed ? first : second)?.height ?? null;
}

/** The lowest item in order; null: none is. */
export const bottomOf = (order: PageOrder | null): PlacedItem | null =>
  order?.inOrder.at(-1) ?? null;

/** Whether nothing can be missing between the previous page and this one. */
export function joins(order: PageOrder): boolean {
  const { previousLast, entry, isEntryAbove } = order.borders;
  if (previousLast === null || isForeign(order)) return false;
  const named = isEntryAbove ? previousLast : order.inOrder[0];
  return entry === null || (named !== undefined && isAt(entry, named));
}

/**
 * Whether the page begins with the item that its cursor names, n blocks too high, and all its items may be as wrong: their
 * blocks less n are between its cursors too. An item at a lower block than its cursor names may have moved: that is no error.
 */
function isRenumbered(
  places: readonly PlacedItem[],
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

/** Whether an item comes before the requested position, as a repeat of the previous page's last does: it is ignored. */
function isRepeat(
  place: PlacedItem,
  below: PlacedItem | undefined,
  { previousLast, entry, isEntryAbove }: PageBorders,
): boolean {
  const above = previousLast ?? entry;
  // A number alone may be wrong: then the item hides its own, unless the next one follows it.
  if (isEntryAbove && place.key === String(place.height)) {
    return above?.height === place.height && below?.height === place.height - 1;
  }
  if (previousLast !== null && isAt(previousLast, place)) return true;
  if (isEntryAbove || entry === null || inOrder(entry, place) || place.key === entry.key) {
    return false;
  }
  return previousLast === null ? place.index === 0 : inOrder(previousLast, place);
}

const isAt = (a: OrderKey, b: OrderKey) => a.height === b.height && a.key === b.key;

function ceilingOf({ previousLast, entry }: PageBorders): OrderKey | null {
  if (previousLast === null || entry === null) return previousLast ?? entry;
  return inOrder(previousLast, entry) ? entry : previousLast;
}

/** Drops the shorter side of a step that the items' times do not allow; if equal, both. */
function plausible(places: readonly PlacedItem[]): readonly PlacedItem[] {
  const step = places.findIndex((place, index) => {
    const before = places[index - 1];
    return before !== undefined && !isPossible(before, place);
  });
  if (step === -1) return places;
  const [above, below] = [places.slice(0, step), places.slice(step)];
  if (above.length === below.length) return [];
  return above.length > below.length ? above : plausible(below);
}

function isPossible(a: PlacedItem, b: PlacedItem): boolean {
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
  const chains: (readonly Item[])[] = [];
  for (const item of items) {
    const before = chains.filter((chain) => mayFollow(chain.at(-1) ?? item, item));
    chains.push([...longestOf(before), item]);
  }
  // Of several as long, the one that ends last.
  return longestOf(chains.toReversed());
}

/** Of several as long, the first. */
const longestOf = <Item>(chains: readonly (readonly Item[])[]): readonly Item[] =>
  chains.reduce((longest, chain) => (chain.length > longest.length ? chain : longest), []);

/** The blocks around an item that reports none; null: unknown. */
export function blocksAround({ inOrder: items, borders }: PageOrder, index: number) {
  const above = items.findLast((place) => place.index < index);
  const below = items.find((place) => place.index > index);
  const from = below?.height ?? borders.next?.height ?? null;
  return { from, to: above?.height ?? ceilingOf(borders)?.height ?? from };
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
function firstReported(item: unknown, names: readonly string[]): unknown {
  if (typeof item !== 'object' || item === null) return undefined;
  const values: unknown[] = names.map((name) => Reflect.get(item, name));
  return values.find((value) => value !== undefined && value !== null);
}

/** Null if a part of the key is missing. */
function keyOf(item: unknown, key: readonly KeyPart[]): string | null {
  const parts = key.flatMap(({ names, isNumber }) => {
    const value = firstReported(item, names);
    return (isNumber ? heightOf(value) : parseHash(value)) ?? [];
  });
  return parts.length === key.length ? keyText(parts) : null;
}

/** Heights have at most fifteen digits; a longer number is no block. */
function heightOf(value: unknown): number | null {
  if (typeof value === 'string') return /^\d{1,15}$/u.test(value) ? Number(value) : null;
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null;
}

const parseHash = (value: unknown) =>
  typeof value === 'string' && /^0x[0-9a-f]{64}$/iu.test(value) ? value.toLowerCase() : null;

function timeOf(value: unknown): number | null {
  if (typeof value !== 'string') return null;
  const ms = Date.parse(utc(value));
  return Number.isNaN(ms) ? null : ms;
}

/** Whether all items of a page that report a time are older than one (ISO 8601), and most report theirs. */
export function isOlder(order: PageOrder | null, since: string | undefined): boolean {
  if (order === null || since === undefined) return false;
  const times = order.inOrder.flatMap(({ timeMs }) => timeMs ?? []);
  const sinceMs = Date.parse(since);
  return 2 * times.length > order.inOrder.length && times.every((ms) => ms < sinceMs);
}
