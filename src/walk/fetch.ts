import type { z } from 'zod';
import type { FetchedPage } from '../explorer/fetcher.ts';
import type { Database } from '../db/transaction.ts';
import type {
  Cursor,
  KnownBlock,
  ListOrder,
  Operation,
  OrderKey,
} from '../operations/operation.ts';
import { packBody, type ArchiveMode } from './archive.ts';
import { askAgain } from './doubt.ts';
import { readEnvelope, type Envelope } from './envelope.ts';
import { judgeOrder, type PageOrder } from './order.ts';
import { digest, normalisePage, type NormalisedPage, type PageFacts } from './page.ts';
import type { PageQueue } from './page-queue.ts';
import { judgeProgress, type Progress, type WalkEnd } from './progress.ts';
import type { Lane } from './tables.ts';
import { fieldOf, toldPlaces } from './told.ts';
import type { WalkRow } from './walk-row.ts';

/** A page ready to be written, and whether the walk ends with it. */
export interface ReadPage {
  readonly page: NormalisedPage;
  readonly end: WalkEnd | null;
  readonly emptyRun: number;
  /** The page's body as it is to be archived; null where it is not. */
  readonly body: Buffer | null;
}

/** How the walk asks for a page: for which lane, path and declared query parameters, never a key. */
export type FetchPage = (
  request: {
    readonly chainId: number;
    readonly lane: Lane;
    readonly path: string;
    readonly query: Cursor;
    /** Asked before, and not believed: after a rest, and on a connection of its own. */
    readonly isDoubt?: boolean;
  },
  signal: AbortSignal,
) => Promise<FetchedPage>;

/** Says before each request whether the slice may still make it. */
export interface SliceBudget {
  takePage(): boolean;
}

export interface PageReader {
  readonly db: Database;
  readonly operation: Operation<z.ZodType>;
  readonly fetchPage: FetchPage;
  readonly pageSize: number;
  readonly archive: ArchiveMode;
  readonly budget: SliceBudget;
}

/** Sorts after every hash and number: keys are ASCII below it. */
const aboveEveryKey = '~';

/** Where a walk's next page is read. */
export interface Step {
  readonly cursor: Cursor | null;
  readonly sequence: number;
  readonly position: number;
  readonly emptyRun: number;
  /** The last item that stands in order, on the page before; null at the start and behind a cut. */
  readonly above: OrderKey | null;
  /** When the last item before was that tells its time, Unix time in ms. */
  readonly aboveMs: number | null;
}

/** A page as it came, and what it says of its walk. */
export interface JudgedPage {
  readonly facts: PageFacts;
  readonly envelope: Envelope;
  readonly body: Buffer;
  /** Null for a list without an order. */
  readonly order: PageOrder | null;
  readonly emptyRun: number;
  readonly end: WalkEnd | null;
}

/**
 * Reads a walk's pages into the queue, from its checkpoint on. The next request leaves as soon as
 * the cursor of this page is decoded; this page becomes rows while that one is on its way. A page that
 * may be the service's mistake is asked for once more before anything is concluded (`doubt.ts`).
 *
 * @returns 'read' when the walk's end was met, 'paused' when the slice's budget was spent
 * @throws what `fetchPage` throws, and EnvelopeError; the pages before it stay in the queue
 */
export async function readPages(
  walk: WalkRow,
  reader: PageReader,
  queue: PageQueue<ReadPage>,
  signal: AbortSignal,
): Promise<'read' | 'paused'> {
  let step = firstStep(walk);
  if (!reader.budget.takePage()) return 'paused';
  let answer = requestPage(walk, reader, step, signal);
  for (;;) {
    const judged = await askAgain(await answer, { walk, reader, step, queue, signal });
    const { facts, envelope, order, emptyRun, end } = judged;
    const next: Step = {
      cursor: facts.cursor_out,
      sequence: step.sequence + 1,
      position: step.position + envelope.items.length,
      emptyRun,
      above: envelope.items.length === 0 ? step.above : lastOf(order),
      aboveMs: timesOf(order).at(-1) ?? step.aboveMs,
    };
    const goesOn = end === null && reader.budget.takePage();
    if (goesOn) {
      answer = requestPage(walk, reader, next, signal);
      // It may fail before the queue has room for this page; it is awaited in the next round.
      answer.catch(() => undefined);
    }
    const page = normalisePage(reader.operation, facts, envelope.items, {
      chain_id: walk.chain_id,
      scope: walk.scope,
      position: step.position,
      order,
      // A page without a place is another page: its items are not out of order among themselves.
      misplaced: order === null || order.trusted.length === 0 ? [] : order.misplaced,
    });
    const packed = reader.archive === 'all' ? await packBody(judged.body) : null;
    const taken = await queue.push({ page, end, emptyRun, body: packed });
    if (!goesOn || !taken) return end === null ? 'paused' : 'read';
    step = next;
  }
}

/** A run that resumes knows how low the walk has come, not the last key itself. */
function firstStep(walk: WalkRow): Step {
  const { cursor, pages, items, empty_run, bottom, stretch_top } = walk;
  return {
    cursor,
    sequence: pages,
    position: items,
    emptyRun: empty_run,
    above: stretch_top === null || bottom === null ? null : { height: bottom, key: aboveEveryKey },
    aboveMs: null,
  };
}

const lastOf = (order: PageOrder | null): OrderKey | null =>
  order?.leadsOn === true ? (order.trusted.at(-1) ?? null) : null;

const timesOf = (order: PageOrder | null) =>
  order?.trusted.flatMap(({ timeMs }) => timeMs ?? []) ?? [];

/** Requests one page of a walk, and judges what it says of the walk. */
export async function requestPage(
  walk: WalkRow,
  reader: PageReader,
  step: Step,
  signal: AbortSignal,
  isDoubt = false,
): Promise<JudgedPage> {
  const { operation, fetchPage, pageSize } = reader;
  const request = operation.request(walk.scope, step.cursor, pageSize);
  const answer = await fetchPage(
    { chainId: walk.chain_id, lane: walk.lane, ...request, isDoubt },
    signal,
  );
  const envelope = readEnvelope(operation, answer.json);
  const facts: PageFacts = {
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
  const order = orderOf(operation.order, envelope, step);
  const emptyRun = envelope.items.length === 0 ? step.emptyRun + 1 : 0;
  const end = judgeProgress(walk.scope, {
    cursor_in: facts.cursor_in,
    cursor_out: facts.cursor_out,
    unreadable: envelope.unreadable,
    pages: step.sequence + 1,
    emptyRun,
    ...reach(order, operation.order, facts.cursor_out, step.aboveMs),
    floor: walk.floor,
    showsKnown: showsBlock(operation.order, envelope.items, walk.scope.known),
  });
  return { facts, envelope, body: answer.body, order, emptyRun, end };
}

function orderOf(order: ListOrder | null, { items, next }: Envelope, step: Step): PageOrder | null {
  return order === null
    ? null
    : judgeOrder(toldPlaces(order, items), {
        above: step.above,
        entry: step.cursor === null ? null : order.position(step.cursor),
        next: next === null ? null : order.position(next),
      });
}

/**
 * How low and how far back a page certainly reaches. One item says it of neither: its number must be
 * borne out by the next page's position or by the item above it, its time by another time.
 */
function reach(
  judged: PageOrder | null,
  order: ListOrder | null,
  next: Cursor | null,
  aboveMs: number | null,
): Pick<Progress, 'oldestMs' | 'lowest'> {
  const trusted = judged?.trusted ?? [];
  const isNextKnown = next !== null && order?.position(next) !== null;
  const lowest = trusted.at(isNextKnown && judged?.leadsOn === true ? -1 : -2);
  const times = [...(aboveMs === null ? [] : [aboveMs]), ...timesOf(judged)].slice(-2);
  return {
    oldestMs: times.length < 2 ? null : Math.max(...times),
    lowest: lowest?.height ?? null,
  };
}

/** Whether a block stands among a page's items, with the hash that it was seen with. */
function showsBlock(
  order: ListOrder | null,
  items: readonly unknown[],
  block: KnownBlock | undefined,
): boolean {
  if (order === null || block === undefined) return false;
  return items.some((item) => {
    const hash = fieldOf(item, 'hash');
    return (
      fieldOf(item, order.height) === block.height &&
      typeof hash === 'string' &&
      hash.toLowerCase() === block.hash
    );
  });
}
