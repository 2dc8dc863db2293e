import { addAbortListener } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { NewDrift } from '../drift/drift.ts';
import { execute, type Queryable } from '../db/transaction.ts';
import { type Cursor, cursorShape, type OrderKey, type PageEnd } from '../lists/operation.ts';
import { inOrder } from '../lists/positions.ts';
import type { HeldWalk, WalkRow } from '../lists/tables.ts';
import { packBody } from './archive.ts';
import { isClaim, judgePage, settle } from './check.ts';
import { arrivingWalk, FencedError } from './checkpoint.ts';
import { commitPages, lastPage } from './commit.ts';
import { cursorText, type ReadPage, type WalkEnd } from './judge.ts';
import { bottomOf, misplacedIn } from './order.ts';
import { PageQueue, type QueueBounds } from './page-queue.ts';
import { normalisePage, type PageReader, requestPage, type Step } from './page.ts';

/** How a run of a walk ended. Only `ended` ends the walk itself. */
export type WalkOutcome =
  | { readonly is: 'ended'; readonly end: WalkEnd }
  | { readonly is: 'paused' | 'fenced' }
  /** With the walk as it was left: its revision is the one that this worker holds. */
  | { readonly is: 'failure'; readonly error: unknown; readonly walk: WalkRow };

/** What a committed transaction added, for progress lines. */
export interface WalkProgress {
  readonly walk: WalkRow;
  readonly pages: number;
  readonly items: number;
  readonly drift: readonly NewDrift[];
}

export interface WalkDependencies extends Omit<PageReader, 'floor'> {
  /** What may wait to be written. */
  readonly waiting: QueueBounds;
  /** What waits of all walks that read side by side with this one. */
  readonly queues: Set<Pick<PageQueue<ReadPage>, 'flush'>>;
  /** Monotonic, in ms. */
  readonly now: () => number;
  readonly onCommit: (progress: WalkProgress) => void;
}

/**
 * Walks on from a walk's checkpoint. Reading runs ahead of writing, which commits all pages that wait as one transaction.
 * `SPEC.md` beside this file has the states and bounds.
 * @throws what Postgres throws; what was committed stays, and the checkpoint says where to resume
 */
export async function runWalk(
  begun: HeldWalk,
  dependencies: WalkDependencies,
  signal: AbortSignal,
): Promise<WalkOutcome> {
  const { db, operation, waiting, queues, now, onCommit } = dependencies;
  let walk = begun;
  const last = begun.pages === 0 ? null : await lastPage(db, begun);
  let previousLast: PageEnd | null =
    last?.isConclusive === true && begun.empty_run === 0 ? last : null;
  const queue = new PageQueue<ReadPage>(waiting, now);
  queues.add(queue);
  using reader = linkAbort(signal);
  const from = { ...dependencies, floor: () => walk.floor, walk: begun, last };
  const pages = readPages(from, queue, reader.signal);
  const reading = Promise.allSettled([pages.finally(() => queue.close())]);
  try {
    for (;;) {
      // The first page shows others that the walk has arrived.
      const read = await queue.takeAll(walk === begun ? null : wait);
      if (read.length === 0) break;
      const isArriving = arrivingWalk(walk) !== null;
      const committed = await commitPages(db, operation, walk, { read, previousLast });
      ({ walk, previousLast } = committed);
      // The walks above may have to read less now, which they learn as they commit.
      if (isArriving) for (const other of queues) if (other !== queue) other.flush();
      const items = read.reduce((sum, { page }) => sum + page.items, 0);
      onCommit({ walk, pages: read.length, items, drift: committed.drift });
      if (committed.end !== null) return { is: 'ended', end: committed.end };
    }
  } catch (error) {
    if (error instanceof FencedError) return { is: 'fenced' };
    throw error;
  } finally {
    queues.delete(queue);
    queue.close();
    reader.abort(new Error('the writer stopped'));
    await reading;
  }
  const [outcome] = await reading;
  if (signal.aborted || outcome.status === 'fulfilled') return { is: 'paused' };
  return { is: 'failure', error: outcome.reason, walk };
}

const wait = (ms: number, signal: AbortSignal) => sleep(ms, undefined, { signal });

/**
 * Reads a walk's pages from its checkpoint, with the `last` item before it, into the queue, to the walk's end or that of the
 * slice's budget. The next request leaves as soon as the cursor of this page is decoded and checked.
 * @throws ExplorerError and what Postgres throws; the pages before it stay in the queue
 */
export async function readPages(
  {
    walk,
    last,
    ...reader
  }: PageReader & { readonly walk: WalkRow; readonly last: OrderKey | null },
  queue: PageQueue<ReadPage>,
  signal: AbortSignal,
): Promise<void> {
  if (!reader.budget.takePage()) return;
  let step = await firstStep(walk, last, reader);
  const met = new Set([cursorText(step.cursor)]);
  let answer = requestPage(walk, reader, step, signal);
  for (;;) {
    const context = { walk, reader, step, signal };
    let judged = judgePage(await answer, context);
    if (isClaim(judged)) {
      // It is held against what is stored: all pages before it have to be.
      if (!(await queue.isWritten())) return;
      judged = await settle(judged, context);
    }
    const { facts, envelope, order, emptyRun, end } = judged;
    const isEmpty = envelope.items.length === 0;
    const next: Step = {
      cursor: facts.cursor_out,
      sequence: step.sequence + 1,
      position: step.position + envelope.items.length,
      emptyRun,
      previousLast: isEmpty ? step.previousLast : order?.leadsOn === true ? bottomOf(order) : null,
      isOlder: judged.isOlder,
      expected: isEmpty ? (order?.borders.entry ?? null) : null,
    };
    // The commit of a page whose next cursor was met before ends the walk: nothing is read beyond it.
    const isRepeated = met.has(cursorText(next.cursor));
    met.add(cursorText(next.cursor));
    const goesOn = end === null && !isRepeated && reader.budget.takePage();
    if (goesOn) {
      answer = requestPage(walk, reader, next, signal);
      // It may fail before the queue has room for this page; it is awaited in the next round.
      answer.catch(() => undefined);
    }
    const normalised = normalisePage(reader.operation, facts, envelope.items, {
      chain_id: walk.chain_id,
      scope: walk.scope,
      position: step.position,
      order,
      misplaced: misplacedIn(order),
    });
    const packed = reader.archive === 'all' ? await packBody(judged.body) : null;
    const taken = await queue.push(
      { page: normalised, end, emptyRun, isOlder: judged.isOlder, body: packed },
      judged.body.length,
    );
    if (!goesOn || !taken) return;
    step = next;
  }
}

/** Where a walk goes on, behind empty pages as one that was not stopped: it carries what is known before the first of them. */
async function firstStep(
  walk: WalkRow,
  last: OrderKey | null,
  { db, operation: { order } }: PageReader,
): Promise<Step> {
  const { cursor, pages, items, empty_run, is_older } = walk;
  const named = (at: Cursor | null) => (at === null ? null : (order?.position(at) ?? null));
  const empty = empty_run === 0 ? [] : await lastCursors(db, walk);
  const [following = cursor] = empty;
  const next = named(following);
  const isContradicted = last !== null && next !== null && !inOrder(last, next);
  return {
    cursor,
    sequence: pages,
    position: items,
    emptyRun: empty_run,
    previousLast: order === null || isContradicted ? null : last,
    isOlder: is_older,
    expected: empty.map(named).find((place) => place !== null) ?? null,
  };
}

/** The cursors of the empty pages that a walk read last, in order. */
const lastCursors = (db: Queryable, { id, pages, empty_run }: WalkRow) =>
  execute(db).values(() => cursorShape().nullable())`
    select cursor_in from etl.pages
    where walk_id = ${id} and sequence >= ${pages - empty_run}
    order by sequence
  `;

/**
 * Links a new abort controller to longer-lived signals. Unlike `AbortSignal.any` it lets go of them when disposed of: a
 * worker's signal outlives hundreds of thousands of walks.
 */
export function linkAbort(...parents: readonly AbortSignal[]): Disposable & AbortController {
  const controller = new AbortController();
  const links = new DisposableStack();
  for (const parent of parents) {
    links.use(addAbortListener(parent, () => controller.abort(parent.reason)));
  }
  return Object.assign(controller, { [Symbol.dispose]: () => links.dispose() });
}
