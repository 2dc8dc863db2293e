import { createHash } from 'node:crypto';
import type { z } from 'zod';
import type { Cursor, ItemRows, Operation, Scope } from '../operations/operation.ts';
import { openSurvey, type Survey } from '../operations/survey.ts';
import { decodeItem } from './item.ts';
import { cutNesting, isDeeper } from './nesting.ts';

/** An item that is no row, and why. */
export interface QuarantinedItem {
  readonly raw: unknown;
  readonly raw_hash: string;
  readonly reason: string;
  readonly position: number;
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
  /** The highest and lowest block number on the page, where the list has such an order. */
  readonly top: number | null;
  readonly bottom: number | null;
  /** Whether the page stands in the list's order, within itself and after the page before it. */
  readonly isOrdered: boolean;
  /** Where its items differ from the specification. */
  readonly survey: Survey;
}

/** Where an item stands in a list that is newest block first, then highest key first. */
export interface OrderKey {
  readonly height: number;
  readonly key: string;
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
  /** The last item of the page before, if that page was read in this run. */
  readonly above: OrderKey | null;
}

/**
 * Decodes and normalises a page's items one by one: a valid one becomes rows, one without its
 * identity a quarantine entry, the same one again within the page is counted as a repeat. None is dropped.
 */
export function normalisePage(
  operation: Operation<z.ZodType>,
  facts: PageFacts,
  items: readonly unknown[],
  { chain_id, scope, position, above }: PagePlace,
): NormalisedPage {
  const rows = new Map<string, ItemRows>();
  const quarantined = new Map<string, QuarantinedItem>();
  const surveyor = openSurvey(operation.item);
  const refuse = (raw: unknown, reason: string, at: number) => {
    const raw_hash = digest(JSON.stringify(raw));
    if (!quarantined.has(raw_hash))
      quarantined.set(raw_hash, { raw, raw_hash, reason, position: at });
  };
  for (const [index, raw] of items.entries()) {
    const at = position + index;
    if (isDeeper(raw, deepestItem)) {
      // Still too deep when it is cut: tried again, it would else be a row that lacks what was cut.
      refuse(cutNesting(raw, deepestItem + 1), `nested deeper than ${deepestItem} levels`, at);
      continue;
    }
    const decoded = decodeItem(operation.item, raw);
    surveyor.look(raw);
    if (decoded.is === 'valid') {
      const { unread } = decoded;
      const place = { chain_id, scope, page_id: facts.page_id, position: at, unread };
      const item = operation.normalise(decoded.item, decoded.raw, place);
      if (!rows.has(item.key)) rows.set(item.key, item);
      for (const value of unread) surveyor.noteUnread(value);
    } else refuse(raw, decoded.reason, at);
  }
  const heights = [...rows.values()].flatMap(({ height }) => height ?? []);
  return {
    ...facts,
    rows: [...rows.values()],
    quarantined: [...quarantined.values()],
    repeats: items.length - rows.size - quarantined.size,
    top: heights.length === 0 ? null : Math.max(...heights),
    bottom: heights.length === 0 ? null : Math.min(...heights),
    isOrdered: inOrder([...(above === null ? [] : [above]), ...orderKeys([...rows.values()])]),
    survey: surveyor.survey(),
  };
}

/** The keys of those items that tell their height. */
export function orderKeys(rows: readonly ItemRows[]): OrderKey[] {
  return rows.flatMap(({ height, key }) => (height === null ? [] : [{ height, key }]));
}

/** Newest first; an item met again at a border is no disorder. */
function inOrder(keys: readonly OrderKey[]): boolean {
  return keys.every((key, index) => {
    const before = keys[index - 1];
    if (before === undefined || key.height < before.height) return true;
    return key.height === before.height && key.key <= before.key;
  });
}

/** A digest of what was served, to know the same again. */
export const digest = (content: string | Buffer) =>
  createHash('sha256').update(content).digest('hex');
