import type { z } from 'zod';
import type { FetchedPage } from '../explorer/fetcher.ts';
import type { Cursor, KnownBlock, Operation } from '../operations/operation.ts';
import { packBody, type ArchiveMode } from './archive.ts';
import { readEnvelope, type Envelope } from './envelope.ts';
import {
  digest,
  normalisePage,
  orderKeys,
  type NormalisedPage,
  type OrderKey,
  type PageFacts,
} from './page.ts';
import type { PageQueue } from './page-queue.ts';
import { judgeProgress, type Progress, type WalkEnd } from './progress.ts';
import type { Lane } from './tables.ts';
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
  },
  signal: AbortSignal,
) => Promise<FetchedPage>;

/** Says before each request whether the slice may still make it. */
export interface SliceBudget {
  takePage(): boolean;
}

export interface PageReader {
  readonly operation: Operation<z.ZodType>;
  readonly fetchPage: FetchPage;
  readonly pageSize: number;
  readonly archive: ArchiveMode;
  readonly budget: SliceBudget;
}

/** Sorts after every hash and number: keys are ASCII below it. */
const aboveEveryKey = '~';

interface Step {
  readonly cursor: Cursor | null;
  readonly sequence: number;
  readonly position: number;
  readonly emptyRun: number;
  readonly above: OrderKey | null;
}

/**
 * Reads a walk's pages into the queue, from its checkpoint on. The next request leaves as soon as
 * the cursor of this page is decoded; this page becomes rows while that one is on its way.
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
  let step: Step = {
    cursor: walk.cursor,
    sequence: walk.pages,
    position: walk.items,
    emptyRun: walk.empty_run,
    // A run that resumes knows how low the walk has come, not the last key itself.
    above: walk.bottom === null ? null : { height: walk.bottom, key: aboveEveryKey },
  };
  if (!reader.budget.takePage()) return 'paused';
  let answer = requestPage(walk, reader, step, signal);
  for (;;) {
    const { facts, envelope, body } = await answer;
    const emptyRun = envelope.items.length === 0 ? step.emptyRun + 1 : 0;
    const end = judgeProgress(walk.scope, {
      cursor_in: facts.cursor_in,
      cursor_out: facts.cursor_out,
      unreadable: envelope.unreadable,
      pages: step.sequence + 1,
      emptyRun,
      ...lastPlace(reader.operation, envelope.items),
      floor: walk.floor,
      showsKnown: showsBlock(reader.operation, envelope.items, walk.scope.known),
    });
    const next = {
      cursor: facts.cursor_out,
      sequence: step.sequence + 1,
      position: step.position + envelope.items.length,
      emptyRun,
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
      above: step.above,
    });
    const packed = reader.archive === 'all' ? await packBody(body) : null;
    const taken = await queue.push({ page, end, emptyRun, body: packed });
    if (!goesOn || !taken) return end === null ? 'paused' : 'read';
    step = { ...next, above: orderKeys(page.rows).at(-1) ?? step.above };
  }
}

async function requestPage(
  walk: WalkRow,
  { operation, fetchPage, pageSize }: PageReader,
  { cursor, sequence }: Pick<Step, 'cursor' | 'sequence'>,
  signal: AbortSignal,
): Promise<{ facts: PageFacts; envelope: Envelope; body: Buffer }> {
  const request = operation.request(walk.scope, cursor, pageSize);
  const answer = await fetchPage({ chainId: walk.chain_id, lane: walk.lane, ...request }, signal);
  const envelope = readEnvelope(operation, answer.json);
  const facts: PageFacts = {
    page_id: answer.page_id,
    sequence,
    cursor_in: cursor,
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

/** What the last items of a page tell of their time and height, read before they become rows. */
function lastPlace(
  { order }: Operation<z.ZodType>,
  items: readonly unknown[],
): Pick<Progress, 'oldest' | 'lowest'> {
  if (order === null) return { oldest: null, lowest: null };
  const told = (field: string) => items.map((item) => fieldOf(item, field));
  const oldest = told(order.time).findLast((time) => typeof time === 'string');
  const lowest = told(order.height).findLast(
    (height) => typeof height === 'number' || (typeof height === 'string' && /^\d+$/u.test(height)),
  );
  return {
    oldest: typeof oldest === 'string' ? oldest : null,
    lowest: lowest === undefined || lowest === null ? null : Number(lowest),
  };
}

/** Whether a block stands among a page's items, with the hash that it was seen with. */
function showsBlock(
  { order }: Operation<z.ZodType>,
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

function fieldOf(item: unknown, field: string): unknown {
  return typeof item === 'object' && item !== null ? Reflect.get(item, field) : undefined;
}
