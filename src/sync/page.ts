import { hash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type { Database } from '../db/transaction.ts';
import { type DriftReport, openDriftCounter } from '../drift/drift.ts';
import { isExactNumber } from '../exact-number.ts';
import type { createFetcher } from '../explorer/fetcher.ts';
import { issuesText, type Page } from '../explorer/response.ts';
import { decodeItem } from '../lists/decode.ts';
import { outOfOrder } from '../lists/positions.ts';
import {
  type Cursor,
  type ItemRows,
  type Operation,
  type OrderKey,
  type ItemPosition,
  type Scope,
  cursorShape,
} from '../lists/operation.ts';
import type { WalkRow } from '../lists/tables.ts';
import { blocksAround, type Misplaced, type PageOrder } from './order.ts';

/** Requests a page by lane, path and declared query parameters; the query never holds a key. */
export type FetchPage = ReturnType<typeof createFetcher>;

export interface SliceBudget {
  takePage(): boolean;
}

export interface PageReader {
  readonly db: Database;
  readonly operation: Operation;
  readonly fetchPage: FetchPage;
  readonly pageSize: number;
  readonly archive: ArchiveMode;
  readonly budget: SliceBudget;
  /** The walk's current stop height: a walk that takes over a part of this one raises it. */
  readonly floor: () => number | null;
}

/** Where a walk's next page is read. */
export interface Step {
  readonly cursor: Cursor | null;
  readonly sequence: number;
  readonly position: number;
  readonly emptyRun: number;
  /** The previous page's last item in order; null at the start and after a cut. */
  readonly previousLast: OrderKey | null;
  /** After empty pages, the position at which the first was requested: the list continues there. */
  readonly expected: OrderKey | null;
  /** Whether all of the page before is older than `since`. */
  readonly isOlder: boolean;
}

export async function requestPage(
  walk: WalkRow,
  { operation, fetchPage, pageSize }: PageReader,
  step: Step,
  signal: AbortSignal,
  isRecheck = false,
) {
  const { chain_id: chainId, lane } = walk;
  const request = operation.request(walk.scope, step.cursor, pageSize);
  const answer = await fetchPage(
    { chainId, operation: walk.operation, lane, ...request, isRecheck },
    signal,
  );
  const envelope = readEnvelope(operation, answer);
  const facts = {
    page_id: answer.page_id,
    sequence: step.sequence,
    cursor_in: step.cursor,
    cursor_out: envelope.next,
    items: envelope.items.length,
    bytes: answer.bytes,
    body_hash: digest(answer.body),
    attempts: answer.attempts,
    latency_ms: Math.round(answer.latencyMs),
    fetched_at: answer.at,
  };
  return { facts, envelope, body: answer.body };
}

export type ServedPage = Readonly<Awaited<ReturnType<typeof requestPage>>>;

/** What the ledger records of a fetched page. */
export const pageFactsShape = () =>
  z.object({
    page_id: z.number(),
    sequence: z.number(),
    cursor_in: cursorShape().nullable(),
    cursor_out: cursorShape().nullable(),
    items: z.number(),
    bytes: z.number(),
    body_hash: z.string(),
    attempts: z.number(),
    latency_ms: z.number(),
    fetched_at: z.string(),
  });
export type PageFacts = Readonly<z.infer<ReturnType<typeof pageFactsShape>>>;

/** A page's items as served, and the declared fields of its next cursor. */
export interface Envelope {
  readonly items: readonly unknown[];
  /** The next page's cursor; null at the list's end, or if it is `unreadable`. */
  readonly next: Cursor | null;
  /** Why a cursor that is present is not this operation's. */
  readonly unreadable: string | null;
}

/** Undeclared fields of `next_page_params`, such as an echoed `key`, are dropped here. */
function readEnvelope(operation: Operation, { json }: Pick<Page, 'json'>): Envelope {
  const { items, next_page_params: next } = json;
  if (next === null || Object.keys(next).length === 0) {
    return { items, next: null, unreadable: null };
  }
  const cursor = operation.cursor.safeParse(next);
  return cursor.success
    ? { items, next: cursor.data, unreadable: null }
    : { items, next: null, unreadable: issuesText(cursor.error) };
}

export interface QuarantinedItem {
  readonly raw: unknown;
  readonly raw_hash: string;
  readonly reason: string;
  readonly position: number;
  /** The blocks between which it stands; null: not known, or a list without blocks. */
  readonly from_block: number | null;
  readonly to_block: number | null;
}

/** A decoded page: items = rows + quarantined + repeats (promise 4). */
export interface NormalisedPage extends PageFacts {
  readonly rows: readonly ItemRows[];
  readonly quarantined: readonly QuarantinedItem[];
  readonly repeats: number;
  /** Whether the last item reports its position; if not, the page's end is unknown. */
  readonly isEndReported: boolean;
  /** Null if the list has no order. */
  readonly order: PageOrder | null;
  readonly driftReport: DriftReport;
}

/** Whether all items are in the list's order, within the page and after the previous page. */
export const isOrdered = ({ order }: Pick<NormalisedPage, 'order'>) =>
  order === null || order.others.every(({ height }) => height === null);

/** Items nest less than ten levels. At some thousands Postgres fails (54001): the feed stops. */
const deepestItem = 128;

/** Why an item is refused that can be read alone: `quarantine retry` keeps it. */
export const reasonsOfPage = {
  misplaced: 'out of order: the rest of the page contradicts its number',
  repeated: 'the page lists it twice, and says something else of it',
} as const;

interface PagePlace {
  readonly chain_id: number;
  readonly scope: Scope;
  /** Number of items on the walk's earlier pages. */
  readonly position: number;
  readonly order: PageOrder | null;
  /** Items whose block the page does not confirm: their rows omit it. */
  readonly misplaced: Misplaced;
}

/**
 * Decodes and normalises a page's items. A valid item becomes rows; one without its identity is quarantined, and so is
 * a repeat that differs, because the right one is unknown. Equal repeats are counted. No item is dropped.
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
  let isEndReported = true;
  const refuse = (raw: unknown, reason: string, at: number) => {
    const raw_hash = digest(JSON.stringify(raw));
    const blocks = order === null ? null : blocksAround(order, at - position);
    const [from_block, to_block] = [blocks?.from ?? null, blocks?.to ?? null];
    // Equal ones may stand for several items: the last is the lowest.
    const first = quarantined.get(raw_hash) ?? { raw, raw_hash, reason, position: at, to_block };
    quarantined.set(raw_hash, { ...first, from_block });
  };
  for (const [index, raw] of items.entries()) {
    const at = position + index;
    if (isDeeper(raw, deepestItem)) {
      // Still too deep once cut: a retry of the cut item would store an incomplete row.
      refuse(cutNesting(raw, deepestItem + 1), `nested deeper than ${deepestItem} levels`, at);
      continue;
    }
    const decoded = decodeItem(operation.item, raw, driftCounter);
    if (decoded.is === 'valid') {
      const place = { chain_id, scope, page_id: facts.page_id, position: at };
      const normalised = operation.normalise(decoded, place);
      const isMisplaced =
        normalised.height !== null &&
        (misplaced === 'all' ? !isIdentity(operation) : misplaced.includes(index));
      if (isMisplaced && isIdentity(operation)) {
        refuse(raw, reasonsOfPage.misplaced, at);
        continue;
      }
      const other = isMisplaced ? order?.others.find((one) => one.index === index) : undefined;
      const isRepeat = other?.height === null;
      const isForeign = misplaced === 'all' || isRepeat;
      const item = withoutUncertainPlace(operation, normalised, isMisplaced, isForeign);
      isEndReported = operation.order === null || item.height !== null;
      const both = withRepeat(rows.get(item.key), item);
      if (both === null) refuse(raw, reasonsOfPage.repeated, at);
      else rows.set(item.key, both);
      for (const value of decoded.unread) driftCounter.noteUnread(value);
      if (isMisplaced && !isRepeat && operation.order?.givesCoverage === true) {
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
    isEndReported,
    order,
    driftReport: driftCounter.report(),
  };
}

/** What an item's page says of it, but for its addresses. */
const contentOf = ({ row, children, missing }: ItemRows) => [row, children, missing?.unplaced];

/** Merges a repeated item, with all addresses of both; null if the two differ. */
function withRepeat(first: ItemRows | undefined, item: ItemRows): ItemRows | null {
  if (first === undefined) return item;
  if (!isDeepStrictEqual(contentOf(item), contentOf(first))) return null;
  if (isDeepStrictEqual(item.addresses, first.addresses)) return first;
  return { ...first, addresses: [...first.addresses, ...item.addresses] };
}

/** Whether an item's height is its key: a wrong height then means another item. */
const isIdentity = ({ order }: Operation) =>
  order?.givesCoverage === true && order.key.every(({ column }) => column === order.columns.height);

/**
 * Keeps the known block of an item that reports none, or one that its page does not confirm, which `extra` keeps then. A page of
 * which nothing is in order changes no row that has a block: it would be no evidence any more.
 */
function withoutUncertainPlace(
  { order }: Operation,
  item: ItemRows,
  isMisplaced: boolean,
  isForeign: boolean,
): ItemRows {
  if (order?.givesCoverage !== true || (item.height !== null && !isMisplaced)) return item;
  const { row, missing } = item;
  const { height } = order.columns;
  const extra = { ...(row['extra'] as object | null), [outOfOrder(order)]: item.height };
  return {
    ...item,
    height: null,
    row: { ...row, [height]: null, ...(isMisplaced && !isForeign && { extra }) },
    missing: {
      // A mark of an earlier page stays too.
      columns: [...(missing?.columns ?? []), height, ...(isForeign ? ['extra'] : [])],
      children: missing?.children ?? [],
      ...(isMisplaced && isForeign && { unplaced: { column: height, row: { extra } } }),
    },
  };
}

/** The rows of the valid items, before the page is written. */
export function rowsOf(
  operation: Operation,
  items: readonly unknown[],
  place: ItemPosition,
): ItemRows[] {
  return items.flatMap((raw, index) => {
    if (isDeeper(raw, deepestItem)) return [];
    const decoded = decodeItem(operation.item, raw);
    if (decoded.is === 'invalid') return [];
    return [operation.normalise(decoded, { ...place, position: place.position + index })];
  });
}

export const digest = (content: string | Buffer) => hash('sha256', content);

/** Replaces what is nested too deep. */
const cutMark = '(nested deeper than this program reads)';

const isNested = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !isExactNumber(value);

export function isDeeper(value: unknown, levels: number): boolean {
  if (!isNested(value)) return false;
  return levels === 0 || Object.values(value).some((inner) => isDeeper(inner, levels - 1));
}

/** A copy of the value in which everything below `levels` is replaced by a mark. */
export function cutNesting(value: unknown, levels: number): unknown {
  if (!isNested(value)) return value;
  if (levels === 0) return cutMark;
  if (Array.isArray(value)) return value.map((inner) => cutNesting(inner, levels - 1));
  // Entries: a literal would make a key `__proto__` the prototype.
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, cutNesting(inner, levels - 1)]),
  );
}

export type ArchiveMode = 'off' | 'all';
