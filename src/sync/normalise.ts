import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { z } from 'zod';
import { type DriftReport, openDriftCounter } from '../drift/drift.ts';
import { allRead, type Unread, type UnreadValue } from '../drift/fields.ts';
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
    const decoded = decodeItem(operation.item, raw);
    driftCounter.count(raw);
    if (decoded.is === 'valid') {
      const { unread } = decoded;
      const place = { chain_id, scope, page_id: facts.page_id, position: at, unread };
      const normalised = operation.normalise(decoded.item, decoded.raw, place);
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
      for (const value of unread) driftCounter.noteUnread(value);
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
export function rowsOf(
  operation: Operation,
  items: readonly unknown[],
  place: Omit<Place, 'unread'>,
): ItemRows[] {
  return items.flatMap((raw, index) => {
    if (isDeeper(raw, deepestItem)) return [];
    const decoded = decodeItem(operation.item, raw);
    if (decoded.is !== 'valid') return [];
    const { item, unread } = decoded;
    return [
      operation.normalise(item, decoded.raw, {
        ...place,
        position: place.position + index,
        unread,
      }),
    ];
  });
}

/** A digest of what was served, to know the same again. */
export const digest = (content: string | Buffer) =>
  createHash('sha256').update(content).digest('hex');

/** An item as its schema reads it, or why it is no row. */
export type DecodedItem<Item> =
  | {
      readonly is: 'valid';
      readonly item: Item;
      /** The item as served, with values that were not read moved aside to names of their own. */
      readonly raw: unknown;
      readonly unread: Unread;
    }
  | { readonly is: 'invalid'; readonly reason: string };

/** An item is read again without what was wrong; each time it can only be a level higher up. */
const mostRounds = 8;

/**
 * Decodes an item. A value of another type or format counts as missing, so that the item is read
 * without it: a service that turns a text into a number, or prints `0x` for no hash, must not send
 * every item to quarantine. The value is kept under its field's name and what is off, `fee (number)`
 * or `timestamp (malformed)`, and ends in `extra` as unknown fields do. What can't be without the value
 * goes with it: an address without its hash is none. The item itself can't be without its identity.
 */
export function decodeItem<Schema extends z.ZodType>(
  schema: Schema,
  raw: unknown,
): DecodedItem<z.infer<Schema>> {
  const decoded = schema.safeParse(raw);
  if (decoded.success) return { is: 'valid', item: decoded.data, raw, unread: allRead };
  const first = complaintsAbout(decoded.error);
  let complaints = first;
  let unread: Unread = [];
  for (let round = 0; round < mostRounds; round += 1) {
    const found = complaints.map((complaint) => unreadValue(complaint, raw, unread));
    if (!found.every((value) => value !== null)) break;
    unread = outermost([...unread, ...found]);
    const aside = unread.reduce<unknown>(setAside, raw);
    const again = schema.safeParse(aside);
    if (again.success) return { is: 'valid', item: again.data, raw: aside, unread };
    complaints = complaintsAbout(again.error);
  }
  return { is: 'invalid', reason: first.map(describe).join('; ') };
}

type Issue = z.ZodError['issues'][number];

interface Complaint {
  readonly issue: Issue;
  readonly path: readonly PropertyKey[];
}

const complaintsAbout = (error: z.ZodError) =>
  error.issues.flatMap((issue) => complaintsOf(issue, []));

/** Of a field with several shapes, what is wrong with the one that came furthest. */
function complaintsOf(issue: Issue, parent: readonly PropertyKey[]): Complaint[] {
  const path = [...parent, ...issue.path];
  const shapes: readonly (readonly Issue[])[] = issue.code === 'invalid_union' ? issue.errors : [];
  const [closest] = shapes.toSorted((a, b) => depthOf(b) - depthOf(a));
  if (closest !== undefined) return closest.flatMap((inner) => complaintsOf(inner, path));
  return [{ issue, path }];
}

const depthOf = (issues: readonly Issue[]) => Math.max(0, ...issues.map(({ path }) => path.length));

/** Names the field that is wrong and what was expected of it. */
const describe = ({ issue, path }: Complaint) =>
  path.length === 0 ? issue.message : `${path.join('.')}: ${issue.message}`;

/** What a complaint is about; what stands around it where it is missing. Null: the item itself. */
function unreadValue(complaint: Complaint, raw: unknown, unread: Unread): UnreadValue | null {
  const { issue, path } = complaint;
  let length = path.length;
  while (length > 0 && isMissing(path.slice(0, length), raw, unread)) length -= 1;
  if (length === 0) return null;
  const place = path.slice(0, length);
  if (length < path.length) {
    return { path: place, kind: 'format', detail: `${String(path.at(-1))}: ${issue.message}` };
  }
  const type = jsonType(valueAt(place, raw));
  const expected = issue.code === 'invalid_type' ? issue.expected : type;
  const isRetyped = type !== (expected === 'int' ? 'number' : expected);
  return isRetyped
    ? { path: place, kind: 'type', detail: type }
    : { path: place, kind: 'format', detail: issue.message };
}

const isMissing = (path: readonly PropertyKey[], raw: unknown, unread: Unread) =>
  valueAt(path, raw) === undefined || unread.some((value) => isSame(value.path, path));

const valueAt = (path: readonly PropertyKey[], raw: unknown) =>
  path.reduce<unknown>(
    (value, step) =>
      typeof value === 'object' && value !== null ? Reflect.get(value, step) : undefined,
    raw,
  );

const isSame = (a: readonly PropertyKey[], b: readonly PropertyKey[]) =>
  a.length === b.length && a.every((step, at) => step === b[at]);

function jsonType(value: unknown): string {
  if (value === null) return 'null';
  if (isExactNumber(value)) return 'number';
  return Array.isArray(value) ? 'array' : typeof value;
}

/** Without what stands in another value that was not read, and each once. */
const outermost = (unread: Unread): Unread =>
  unread.filter(
    ({ path }, place) =>
      !unread.some((other, at) =>
        isSame(other.path, path)
          ? at < place
          : other.path.length < path.length && isSame(other.path, path.slice(0, other.path.length)),
      ),
  );

/** A copy without the value, which is kept beside: a member of a list beside the list. */
function setAside(value: unknown, { path, kind, detail }: UnreadValue): unknown {
  const label = kind === 'type' ? detail : 'malformed';
  return asideOf(value, path, label);
}

function asideOf(value: unknown, path: readonly PropertyKey[], label: string): unknown {
  const [step, ...rest] = path;
  if (step === undefined || typeof value !== 'object' || value === null) return value;
  const inner: unknown = Reflect.get(value, step);
  if (Array.isArray(value)) return value.with(Number(step), asideOf(inner, rest, label));
  const name = String(step);
  const [member] = rest;
  if (member === undefined) return replace(value, name, [[`${name} (${label})`, inner]]);
  if (rest.length > 1 || !Array.isArray(inner)) {
    return replace(value, name, [[name, asideOf(inner, rest, label)]]);
  }
  const at = Number(member);
  // Null in its place, so that its neighbours keep theirs.
  return replace(value, name, [
    [name, inner.with(at, null)],
    [`${name}[${at}] (${label})`, inner[at]],
  ]);
}

/** `fromEntries` defines own properties, so that a key `__proto__` stays a key. */
const replace = (object: object, name: string, entries: readonly (readonly [string, unknown])[]) =>
  Object.fromEntries(
    Object.entries(object).flatMap(([key, old]) => (key === name ? entries : [[key, old]])),
  );

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
