import { ExplorerError } from '../explorer/error.ts';
import { kinds } from '../lists/index.ts';
import type { Cursor, EndQuestion, EndVerdict, ItemRows, ListOrder } from '../lists/operation.ts';
import { sharesStored } from '../lists/positions.ts';
import type { WalkRow } from '../lists/tables.ts';
import { distrust, type JudgedPage, judgePage, namedBy } from './judge.ts';
import { rowsOf } from './normalise.ts';
import type { PageQueue } from './page-queue.ts';
import { type PageReader, requestPage, type ServedPage, type Step } from './request.ts';

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
export async function checkPage(served: ServedPage, context: RecheckContext): Promise<JudgedPage> {
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
