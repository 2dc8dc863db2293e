import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../db/transaction.ts';
import type { NewDrift } from '../drift/record.ts';
import { ExplorerError } from '../explorer/error.ts';
import { kinds } from '../lists/index.ts';
import type {
  Cursor,
  EndQuestion,
  EndVerdict,
  ItemRows,
  ListOrder,
  OrderKey,
} from '../lists/operation.ts';
import { lastPlace, sharesStored } from '../lists/positions.ts';
import type { HeldWalk, WalkRow } from '../lists/tables.ts';
import { linkAbort } from './abort.ts';
import { packBody } from './archive.ts';
import { FencedError } from './checkpoint.ts';
import { commitPages, type ToCommit } from './commit.ts';
import { distrust, type JudgedPage, judgePage, namedBy, type WalkEnd } from './judge.ts';
import { type NormalisedPage, normalisePage, rowsOf } from './normalise.ts';
import { type PageOrder, timedPlaces } from './order.ts';
import { PageQueue } from './page-queue.ts';
import { type PageReader, requestPage, type ServedPage, type Step } from './request.ts';

/** How a run of a walk ended. Only `ended` ends the walk itself. */
export type WalkOutcome =
  | { readonly is: 'ended'; readonly end: WalkEnd }
  | { readonly is: 'paused' }
  | { readonly is: 'fenced' }
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
  readonly db: Database;
  /** How many pages may wait to be written, and how many bytes of JSON. */
  readonly readAhead: number;
  readonly readAheadBytes: number;
  /** How long pages wait for others that are written with them, in ms. */
  readonly gatherMs: number;
  readonly onCommit: (progress: WalkProgress) => void;
}

/**
 * Walks on from a walk's checkpoint. Reading runs ahead of writing: while pages are on their way,
 * the writer takes all that wait and commits them as one transaction, so a fast API makes big
 * transactions and a slow one small ones. `SPEC.md` beside this file has the states and bounds.
 *
 * @param walk as this worker claimed it; its revision fences every write
 * @throws what Postgres throws; what was committed stays, and the checkpoint says where to resume
 */
export async function runWalk(
  walk: HeldWalk,
  dependencies: WalkDependencies,
  signal: AbortSignal,
): Promise<WalkOutcome> {
  const queue = new PageQueue<ReadPage>(dependencies.readAhead, dependencies.readAheadBytes);
  let current = walk;
  using reader = linkAbort(signal);
  const floor = () => current.floor;
  const reading = readPages(walk, { ...dependencies, floor }, queue, reader.signal)
    .then(
      (outcome) => ({ outcome }) as const,
      (error: unknown) => ({ error }) as const,
    )
    .finally(() => queue.close());
  try {
    const end = await writePages(walk, dependencies, queue, (moved) => {
      current = moved;
    });
    if (end !== null) return { is: 'ended', end };
  } catch (error) {
    if (error instanceof FencedError) return { is: 'fenced' };
    throw error;
  } finally {
    queue.close();
    reader.abort(new Error('the writer stopped'));
    await reading;
  }
  const read = await reading;
  if (signal.aborted || 'outcome' in read) return { is: 'paused' };
  return { is: 'failure', error: read.error, walk: current };
}

/** Commits what the queue holds until it is drained or the walk ends. */
async function writePages(
  walk: HeldWalk,
  { db, operation, gatherMs, onCommit }: WalkDependencies,
  queue: PageQueue<ReadPage>,
  onMove: (walk: HeldWalk) => void,
): Promise<WalkEnd | null> {
  let current = walk;
  let above: ToCommit['above'] = 'unknown';
  for (;;) {
    // The first page shows others that the walk has arrived.
    const read = await queue.takeAll(
      current === walk ? undefined : (over) => sleep(gatherMs, undefined, { signal: over }),
    );
    if (read.length === 0) return null;
    const committed = await commitPages(db, operation, current, { read, above });
    ({ walk: current, above } = committed);
    onMove(current);
    onCommit({
      walk: current,
      pages: read.length,
      items: read.reduce((sum, { page }) => sum + page.items, 0),
      drift: committed.drift,
    });
    if (committed.end !== null) return committed.end;
  }
}

/** A page ready to be written, and whether the walk ends with it. */
export interface ReadPage {
  readonly page: NormalisedPage;
  readonly end: WalkEnd | null;
  readonly emptyRun: number;
  /** The page's body as it is to be archived; null where it is not. */
  readonly body: Buffer | null;
}

/**
 * Reads a walk's pages into the queue, from its checkpoint on. The next request leaves as soon as
 * the cursor of this page is decoded; this page becomes rows while that one is on its way. A page that
 * may be the service's mistake is requested once more before anything is concluded.
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
  if (!reader.budget.takePage()) return 'paused';
  let step = await firstStep(walk, reader);
  let answer = requestPage(walk, reader, step, signal);
  for (;;) {
    const judged = await checkPage(await answer, { walk, reader, step, queue, signal });
    const { facts, envelope, order, emptyRun, end } = judged;
    const next: Step = {
      cursor: facts.cursor_out,
      sequence: step.sequence + 1,
      position: step.position + envelope.items.length,
      emptyRun,
      above: envelope.items.length === 0 ? step.above : lastOf(order),
      timed: [...(step.timed ?? []), ...timedPlaces(order)].slice(-reader.pageSize),
      expected: envelope.items.length === 0 ? expectedBehind(step, reader) : null,
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
    const taken = await queue.push({ page, end, emptyRun, body: packed }, judged.body.length);
    if (!goesOn || !taken) return end === null ? 'paused' : 'read';
    step = next;
  }
}

/** A run that resumes goes on where the ledger says that the walk's last page ended. */
async function firstStep(walk: WalkRow, { db, operation }: PageReader): Promise<Step> {
  const { cursor, pages, items, empty_run } = walk;
  return {
    cursor,
    sequence: pages,
    position: items,
    emptyRun: empty_run,
    // Behind an empty page the requested position is unknown: nothing is joined there.
    above:
      operation.order === null || pages === 0 || empty_run > 0
        ? null
        : await lastPlace(db, walk.id),
    timed: null,
    expected: null,
  };
}

const expectedBehind = ({ cursor, expected }: Step, { operation }: PageReader): OrderKey | null =>
  expected ?? (cursor === null ? null : (operation.order?.position(cursor) ?? null));

const lastOf = (order: PageOrder | null): OrderKey | null =>
  order?.leadsOn === true ? (order.trusted.at(-1) ?? null) : null;

/** What a page is judged beside. */
interface RecheckContext {
  readonly walk: WalkRow;
  readonly reader: PageReader;
  readonly step: Step;
  readonly queue: Pick<PageQueue<unknown>, 'drained'>;
  readonly signal: AbortSignal;
}

/**
 * The most answers to one request that are compared: an end that stored rows contradict is requested again.
 */
const mostAnswers = 4;

/**
 * Judges a page, and re-checks one that may be the service's mistake. A page that lacks the item that its cursor
 * names may be of another list, or the item has left the list: the page is requested once more. If it lacks the
 * item again, and none of its items is stored, it covers nothing.
 *
 * @returns the page to go on with: the one given, or what came instead
 * @throws ExplorerError 'truncated' where the list ends again and again where it cannot
 */
async function checkPage(served: ServedPage, context: RecheckContext): Promise<JudgedPage> {
  const first = await judgePage(served, context.walk, context.reader, context.step);
  const second = isOther(first, context) ? await requestAgain(first, context) : first;
  const page = await confirmEnd(second, context);
  if (!isOther(page, context) || (await isKnown(page, context))) return page;
  return distrust(page);
}

const isOther = ({ order }: JudgedPage, { reader: { operation }, step }: RecheckContext) =>
  order?.lacksEntry === true && namedBy(operation.order, step.cursor) !== null;

async function isKnown(page: JudgedPage, context: RecheckContext): Promise<boolean> {
  const { walk, reader, step } = context;
  const { db, operation } = reader;
  const keys = rowsIn(page, { walk, operation, step }).map(({ key }) => key);
  const { name, table, order } = operation;
  return order !== null && sharesStored({ name, table, order }, db, walk.chain_id, keys);
}

/**
 * An end is a claim, and so is an empty page in the middle of a list. Each is believed where what is
 * stored supports it; else the same request is made once more, later and on another connection, and must
 * say the same. Where stored rows contradict an end, it is none, however often it is said.
 *
 * @returns the page to go on with: the one given, or what came instead
 * @throws ExplorerError 'truncated' where the list ends again and again where it cannot
 */
async function confirmEnd(first: JudgedPage, context: RecheckContext): Promise<JudgedPage> {
  let page = first;
  // What came before must be stored before a page is held against what is.
  if (suspicious(page) === 'end') await context.queue.drained();
  let evidence: string | null = null;
  for (let answers = 1; answers < mostAnswers; answers += 1) {
    const suspicion = suspicious(page);
    if (suspicion === null) return page;
    const verdict = suspicion === 'empty' ? unsupported : await judgeEnd(page, context);
    if (verdict.is === 'supported') return page;
    evidence = verdict.is === 'contradicted' ? verdict.evidence : null;
    const next = await requestAgain(page, context);
    if (saysTheSame(page, next, context)) {
      // The first answer may have had no place in the list: what is stored must not contradict the second.
      const isBelieved =
        verdict.is === 'contradicted'
          ? await isGone(verdict, context)
          : suspicion === 'empty' || (await judgeEnd(next, context)).is !== 'contradicted';
      if (isBelieved) return next;
    }
    page = next;
  }
  if (suspicious(page) === null) return page;
  throw truncated(evidence ?? 'the list ends in another place each time it is requested');
}

const unsupported: EndVerdict = { is: 'unsupported' };

/** What of a page needs other evidence; null: nothing. Of empty pages in a row the first one does. */
function suspicious({ emptyRun, end }: JudgedPage): 'end' | 'empty' | null {
  if (end?.is === 'end') return 'end';
  return emptyRun === 1 && end === null ? 'empty' : null;
}

const entryOf = (cursor: Cursor | null, order: ListOrder | null) =>
  cursor === null ? 'head' : (order?.position(cursor) ?? 'unknown');

const rowsIn = (
  { facts, envelope }: Pick<JudgedPage, 'facts' | 'envelope'>,
  {
    walk: { chain_id, scope },
    step,
    operation,
  }: Pick<RecheckContext, 'walk' | 'step'> & Pick<PageReader, 'operation'>,
): ItemRows[] => {
  const place = { chain_id, scope, page_id: facts.page_id, position: step.position };
  return rowsOf(operation, envelope.items, place);
};

function judgeEnd(
  { facts, envelope, order }: JudgedPage,
  { walk, reader: { db, operation, pageSize }, step }: RecheckContext,
): Promise<EndVerdict> {
  const rows = rowsIn({ facts, envelope }, { walk, operation, step });
  return kinds[operation.kind].judgeEnd(operation, db, {
    walk_id: walk.id,
    run_id: walk.run_id,
    chain_id: walk.chain_id,
    feed: walk.feed,
    scope: walk.scope,
    quarantined: envelope.items.length - rows.length,
    isFull: envelope.items.length >= pageSize,
    pageSize,
    rows,
    last: order?.trusted.at(-1) ?? null,
    entry: entryOf(step.cursor, operation.order),
    promised: namedBy(operation.order, step.cursor),
    isResumed: step.sequence === walk.pages,
  });
}

/** Makes a request once more, or another one at the same place. */
async function repeatRequest(
  step: Step,
  { walk, reader, signal }: RecheckContext,
): Promise<JudgedPage> {
  return judgePage(await requestPage(walk, reader, step, signal, true), walk, reader, step);
}

async function requestAgain({ facts }: JudgedPage, context: RecheckContext): Promise<JudgedPage> {
  const next = await repeatRequest(context.step, context);
  const attempts = facts.attempts + next.facts.attempts;
  return { ...next, facts: { ...next.facts, attempts } };
}

/**
 * Whether two answers to one request end, or stay empty, alike: with the same items at the same places. A
 * list without an order may move between the two, and rows cross the cursor: most of them stay.
 */
function saysTheSame(
  a: JudgedPage,
  b: JudgedPage,
  { walk, step, reader }: RecheckContext,
): boolean {
  if (suspicious(a) !== suspicious(b)) return false;
  const [before, after] = [a, b].map(
    (page) =>
      new Set(
        rowsIn(page, { walk, step, operation: reader.operation }).map(
          ({ key, height }) => `${height} ${key}`,
        ),
      ),
  ) as [Set<string>, Set<string>];
  const most = Math.max(before.size, after.size);
  const common = before.intersection(after).size;
  return common === most || (reader.operation.order === null && common * 2 > most);
}

/**
 * Whether what contradicts an end has left the list: requested at its own position, and once more, the
 * service lists nothing from there on, or nothing but the item above.
 */
async function isGone(
  { question }: Extract<EndVerdict, { is: 'contradicted' }>,
  context: RecheckContext,
): Promise<boolean> {
  return (
    question !== null && (await endsAt(question, context)) && (await endsAt(question, context))
  );
}

async function endsAt({ cursor, only }: EndQuestion, context: RecheckContext): Promise<boolean> {
  try {
    const step = { ...context.step, cursor, above: null, expected: null };
    const { envelope, order } = await repeatRequest(step, context);
    if (envelope.next !== null || envelope.unreadable !== null) return false;
    if (only === null) return envelope.items.length === 0;
    const [first] = order?.trusted ?? [];
    return envelope.items.length === 1 && first?.height === only.height && first.key === only.key;
  } catch (error) {
    // A synthetic cursor may be refused: then it says nothing.
    if (error instanceof ExplorerError && error.failure === 'cursor-refused') return false;
    throw error;
  }
}

const truncated = (detail: string) =>
  new ExplorerError({ failure: 'truncated', status: 200, detail });
