import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { decodeItem } from '../lists/decode.ts';
import { type DriftReport, openDriftCounter } from '../drift/drift.ts';
import { isExactNumber } from '../exact-number.ts';
import type { Cursor, ItemRows, Operation, Place, Scope } from '../lists/operation.ts';
import { blocksAround, type PageOrder } from './order.ts';

/** An item that is no row, and why. */
export interface QuarantinedItem {
  readonly raw: unknown;
  readonly raw_hash: string;
  readonly reason: string;
  readonly position: number;
  /** The blocks between which it stands; null: not known, or a list without blocks. */
  readonly from_block: number | null;
  readonly to_block: number | null;
}

/** What is known of a page when it has been fetched, for the ledger. */
export interface PageFacts {
  readonly page_id: number;
  readonly sequence: number;
  readonly cursor_in: Cursor | null;
  readonly cursor_out: Cursor | null;
  readonly items: number;
  readonly bytes: number;
  readonly body_hash: string;
  readonly attempts: number;
  readonly latency_ms: number;
  readonly fetched_at: string;
}

/** A page whose items have become rows: items = rows + quarantined + repeats (promise 4). */
export interface NormalisedPage extends PageFacts {
  readonly rows: readonly ItemRows[];
  readonly quarantined: readonly QuarantinedItem[];
  readonly repeats: number;
  /** The highest and lowest block number of the items that stand in order; null where none does. */
  readonly top: number | null;
  readonly bottom: number | null;
  /** Key of the last of them. */
  readonly last_key: string | null;
  /** Whether all items stand in the list's order, within the page and after the page before it. */
  readonly isOrdered: boolean;
  /** Items whose block the rest of the page contradicts, counted from 0: their rows leave it out. */
  readonly misplaced: readonly number[];
  /** Whether it goes on where the page before it ended, as far as is known. */
  readonly isJoined: boolean;
  /** Whether the last item reports its position: else the page's end is unknown. */
  readonly isEndTold: boolean;
  /** The page held against the list's order; null where the list has none. */
  readonly order: PageOrder | null;
  /** Where its items differ from the specification. */
  readonly driftReport: DriftReport;
}

/**
 * Deepest nesting of an item that is read. A true one has less than ten levels; some thousands are
 * more than Postgres takes (54001), more still than JSON.stringify does, and one such item would stop
 * its feed.
 */
const deepestItem = 128;

interface PagePlace {
  readonly chain_id: number;
  readonly scope: Scope;
  /** How many items the walk has met before this page. */
  readonly position: number;
  /** The page held against the list's order, if it was when it was read. */
  readonly order: PageOrder | null;
  /** Items whose block the rest of the page contradicts, counted from 0. */
  readonly misplaced: readonly number[];
}

/**
 * Decodes and normalises a page's items one by one: a valid one becomes rows, one without its
 * identity a quarantine entry, the same one again within the page is counted as a repeat, unless it says
 * something else: which of the two is right is unknown. None is dropped.
 */
export function normalisePage(
  operation: Operation,
  facts: PageFacts,
  items: readonly unknown[],
  { chain_id, scope, position, order, misplaced }: PagePlace,
): NormalisedPage {
  const rows = new Map<string, ItemRows>();
  const quarantined = new Map<string, QuarantinedItem>();
  const driftCounter = openDriftCounter(operation.item);
  let isEndTold = true;
  const refuse = (raw: unknown, reason: string, at: number) => {
    const raw_hash = digest(JSON.stringify(raw));
    if (quarantined.has(raw_hash)) return;
    const blocks = order === null ? null : blocksAround(order, at - position);
    const [from_block, to_block] = [blocks?.from ?? null, blocks?.to ?? null];
    quarantined.set(raw_hash, { raw, raw_hash, reason, position: at, from_block, to_block });
  };
  for (const [index, raw] of items.entries()) {
    const at = position + index;
    if (isDeeper(raw, deepestItem)) {
      // Still too deep when it is cut: tried again, it would else be a row that lacks what was cut.
      refuse(cutNesting(raw, deepestItem + 1), `nested deeper than ${deepestItem} levels`, at);
      continue;
    }
    const decoded = decodeItem(operation.item, raw, driftCounter);
    if (decoded.is === 'valid') {
      const place = { chain_id, scope, page_id: facts.page_id, position: at };
      const normalised = operation.normalise(decoded, place);
      const isMisplaced = misplaced.includes(index);
      if (isMisplaced && isIdentity(operation)) {
        refuse(raw, 'out of order: the rest of the page contradicts its number', at);
        continue;
      }
      const item = withoutContradictedPlace(operation, normalised, isMisplaced);
      isEndTold = operation.order === null || item.height !== null;
      const both = withRepeat(rows.get(item.key), item);
      if (both === null) refuse(raw, 'the page lists it twice, and says something else of it', at);
      else rows.set(item.key, both);
      for (const value of decoded.unread) driftCounter.noteUnread(value);
      if (item !== normalised && normalised.height !== null && operation.order !== null) {
        const path = [operation.order.columns.height];
        driftCounter.noteUnread({ path, kind: 'format', detail: 'out of order' });
      }
    } else refuse(raw, decoded.reason, at);
  }
  return {
    ...facts,
    rows: [...rows.values()],
    quarantined: [...quarantined.values()],
    repeats: items.length - rows.size - quarantined.size,
    top: order?.top ?? null,
    bottom: order?.trusted.at(-1)?.height ?? null,
    last_key: order?.trusted.at(-1)?.key ?? null,
    isOrdered: order === null || order.misplaced.length === 0,
    misplaced,
    isJoined: order === null || order.joins,
    isEndTold,
    order,
    driftReport: driftCounter.report(),
  };
}

/**
 * An item that may have been on the page before: the first one then, with all addresses that were shown.
 * Null where the two say different things.
 */
function withRepeat(first: ItemRows | undefined, item: ItemRows): ItemRows | null {
  if (first === undefined) return item;
  if (!isDeepStrictEqual([item.row, item.children], [first.row, first.children])) return null;
  if (isDeepStrictEqual(item.addresses, first.addresses)) return first;
  return { ...first, addresses: [...first.addresses, ...item.addresses] };
}

/** Whether an item's height is its identity: one that is wrong is of another item. */
const isIdentity = ({ order }: Operation) =>
  order?.givesCoverage === true && order.columns.height === order.columns.key;

/**
 * An item that reports no block, or one that its neighbours contradict: the known block stays. What
 * it said is kept in `extra`.
 */
function withoutContradictedPlace(
  { order }: Operation,
  item: ItemRows,
  isMisplaced: boolean,
): ItemRows {
  if (order?.givesCoverage !== true || (item.height !== null && !isMisplaced)) return item;
  const { row, missing } = item;
  const { height } = order.columns;
  const said = item.height === null ? null : { [`${height} (out of order)`]: item.height };
  return {
    ...item,
    height: null,
    row: {
      ...row,
      [height]: null,
      ...(said !== null && { extra: { ...(row['extra'] as object | null), ...said } }),
    },
    missing: {
      columns: [...(missing?.columns ?? []), height],
      children: missing?.children ?? [],
    },
  };
}

/** The rows of those items that are valid, for who wants to know them before the page is written. */
export function rowsOf(operation: Operation, items: readonly unknown[], place: Place): ItemRows[] {
  return items.flatMap((raw, index) => {
    if (isDeeper(raw, deepestItem)) return [];
    const decoded = decodeItem(operation.item, raw);
    if (decoded.is === 'invalid') return [];
    return [operation.normalise(decoded, { ...place, position: place.position + index })];
  });
}

/** A digest of what was served, to know the same again. */
export const digest = (content: string | Buffer) =>
  createHash('sha256').update(content).digest('hex');

/** What stands in a cut item in the place of what was nested deeper. */
const cutMark = '(nested deeper than this program reads)';

const isNested = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !isExactNumber(value);

/** Whether lists and objects stand within each other more than `levels` deep. */
export function isDeeper(value: unknown, levels: number): boolean {
  if (!isNested(value)) return false;
  return levels === 0 || Object.values(value).some((inner) => isDeeper(inner, levels - 1));
}

/** A value whose lists and objects are nested at most `levels` deep; what is deeper is said, not kept. */
export function cutNesting(value: unknown, levels: number): unknown {
  if (!isNested(value)) return value;
  if (levels === 0) return cutMark;
  if (Array.isArray(value)) return value.map((inner) => cutNesting(inner, levels - 1));
  // Entries: a literal would make a key `__proto__` the prototype.
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, cutNesting(inner, levels - 1)]),
  );
}
