import { ExplorerError } from '../explorer/error.ts';
import { kindOf } from '../lists/index.ts';
import type { EndQuestion, EndVerdict, ItemRows, ListOrder, Scope } from '../lists/operation.ts';
import { sharesStored } from '../lists/positions.ts';
import type { WalkRow } from '../lists/tables.ts';
import { boundBy, judgeProgress, lowestOf, missedEntry, namedBy, type WalkEnd } from './judge.ts';
import {
  bottomOf,
  isOlder,
  judgeOrder,
  lacksEntry,
  type PageBorders,
  type PageOrder,
  reportedPlaces,
  withoutPlace,
} from './order.ts';
import {
  type Envelope,
  type PageReader,
  requestPage,
  rowsOf,
  type ServedPage,
  type Step,
} from './page.ts';

/** A page as it came, and what it says of its walk. */
type JudgedPage = Readonly<ReturnType<typeof judgePage>>;

/** Judges a page: which of its items stand where they may, whether it is the requested one, and whether its walk ends. */
export function judgePage(page: ServedPage, { walk, reader, step }: RecheckContext) {
  const { facts, envelope } = page;
  const { known } = walk.scope;
  const list = reader.operation.order;
  const borders = list === null ? null : bordersOf(list, envelope, step);
  const places = list === null ? [] : reportedPlaces(list, envelope.items);
  const order = borders === null ? null : judgeOrder(places, borders);
  // Whether it lacks the item that the list's own cursor names.
  const isOther =
    borders !== null && lacksEntry(places, borders) && namedBy(list, step.cursor) !== null;
  const emptyRun = facts.items === 0 ? step.emptyRun + 1 : 0;
  // An empty page is as old as the one before.
  const isPast = facts.items === 0 ? step.isOlder : isOlder(order, walk.scope.since);
  const end =
    judgeArrival(walk.scope, step, order, facts.items) ??
    judgeProgress(walk.scope, {
      cursor_in: facts.cursor_in,
      cursor_out: facts.cursor_out,
      unreadable: envelope.unreadable,
      pages: step.sequence + 1,
      emptyRun,
      isPastSince: isPast && step.isOlder,
      lowest: lowestOf(order),
      floor: reader.floor(),
      showsKnown: places.some(
        (place) => known?.height === place.height && known.hash === place.key,
      ),
    });
  const isFromTop = step.cursor === null && facts.cursor_in !== null;
  return { ...page, order, isOther, isFromTop, emptyRun, isOlder: isPast, end };
}

/** A page that nothing shows to be of this list covers nothing, and ends its walk: its cursor leads on in the other list. */
function distrust(page: JudgedPage): JudgedPage {
  if (page.order === null) return page;
  const isOver = page.end?.is === 'failed' || missedEntry(page);
  const end = isOver ? page.end : boundBy('cursor-mismatch');
  return { ...page, order: withoutPlace(page.order), end };
}

const bordersOf = (
  { position, names }: ListOrder,
  { next }: Envelope,
  { previousLast, cursor, expected }: Step,
): PageBorders => ({
  previousLast,
  // Behind an empty page, a cursor that names what is above says what that page skipped.
  entry: (names === 'first' ? expected : null) ?? (cursor === null ? null : position(cursor)),
  isEntryAbove: names === 'above',
  next: next === null ? null : position(next),
});

/** How a walk ends whose synthetic cursor did not lead to its position. If nothing is listed there, a gap's entry is misplaced. */
function judgeArrival(
  { entry, remainder_of }: Scope,
  { sequence }: Step,
  order: PageOrder | null,
  items: number,
): WalkEnd | null {
  if (entry === undefined || sequence > 0 || order === null) return null;
  if (items === 0 && remainder_of !== undefined) return boundBy('empty-entry');
  return order.inOrder[0]?.index === 0 ? null : boundBy('misplaced-entry');
}

/** What a page is judged beside. */
interface RecheckContext {
  readonly walk: WalkRow;
  readonly reader: PageReader;
  readonly step: Step;
  readonly signal: AbortSignal;
  /** What is requested in place of the step's cursor; absent: that cursor. */
  readonly cursor?: Step['cursor'];
}

/** The most answers to one request that are compared. */
const mostAnswers = 4;

/** Whether a page may be the service's mistake: `settle` finds out once all pages before it are stored. */
export const isClaim = (page: JudgedPage): boolean => page.isOther || suspicious(page) !== null;

/**
 * Re-checks a page that may be the service's mistake, once all pages before it are stored. One that lacks the item that its
 * cursor names is requested once more; if it lacks the item again, and none of its items is stored, it covers nothing.
 * @throws ExplorerError 'truncated' where the list ends again and again where it cannot
 */
export async function settle(first: JudgedPage, context: RecheckContext): Promise<JudgedPage> {
  const second = first.isOther ? await requestAgain(first, context) : first;
  const page = await confirmHead(second, context);
  const { walk, reader } = context;
  const { db, operation } = reader;
  if (!page.isOther || operation.order === null) return page;
  const keys = rowsIn(page, context).map(({ key }) => key);
  return (await sharesStored(operation, db, walk.chain_id, keys)) ? page : distrust(page);
}

/** Above all blocks and batches. One more is the most that a parameter of 32 bits holds. */
const topHeight = 2 ** 31 - 2;

/**
 * An empty head that leads on may hide what is above its cursor: the head is requested by a synthetic cursor above all
 * heights, until two answers agree. If the service refuses it, the head itself is requested once more.
 */
async function confirmHead(head: JudgedPage, context: RecheckContext): Promise<JudgedPage> {
  const { order } = context.reader.operation;
  const isEmptyHead = context.step.cursor === null && suspicious(head) === 'empty';
  if (!isEmptyHead || order?.givesCoverage !== true) return confirmEnd(head, context);
  const fromTop = { ...context, cursor: order.cursorAt(order.topOf(topHeight)) };
  const served = await requestAgain(head, fromTop).catch(nullIfRefused);
  if (served === null) return confirmEnd(head, context);
  const page = await confirmEnd(served, fromTop);
  const top = page.order?.inOrder[0]?.height ?? -1;
  // The cursor of a list of numbers is one above its page.
  const isReached = top + 1 >= (head.order?.borders.next?.height ?? 0);
  if (page.facts.items === 0 ? page.end !== null : !isReached) {
    throw truncated('its first page is empty, and leads on to items that its top does not list');
  }
  return { ...page, facts: { ...page.facts, cursor_in: null } };
}

/**
 * Ends, empty pages in the middle of a list and times before `since` are claims: stored rows may support an end; otherwise the
 * same request, made later, must have the same answer. An end that stored rows contradict is believed only if these left.
 */
async function confirmEnd(first: JudgedPage, context: RecheckContext): Promise<JudgedPage> {
  let [page, before] = [first, await lookAt(first, null, context)];
  if (decide(null, before) === 'accept') return page;
  for (let answers = 2; answers <= mostAnswers; answers += 1) {
    const next = await requestAgain(page, context);
    const now = await lookAt(next, page, context);
    const decision = decide(before, now);
    if (decision === 'accept') return next;
    if (decision === 'ask' && (await isGone(before.verdict, context))) return next;
    [page, before] = [next, now];
  }
  if (before.suspicion === 'since') return { ...page, end: null };
  const { verdict } = before;
  throw truncated(
    verdict.is === 'contradicted'
      ? verdict.evidence
      : 'the list ends in another place each time it is requested',
  );
}

/** What of a page needs other evidence. */
type Suspicion = 'end' | 'since' | 'empty' | 'from-top';

/** An answer to a request, as it is compared with others. */
export interface Answer {
  /** Null: nothing of it needs other evidence. */
  readonly suspicion: Suspicion | null;
  /** What stored rows say of its end. */
  readonly verdict: EndVerdict;
  /** Whether it says the same as the answer before. */
  readonly isSame: boolean;
}

/** Whether an answer is right. One that comes twice is, unless stored rows contradict it; 'ask' whether these have left. Pure. */
export function decide(before: Answer | null, now: Answer): 'accept' | 'ask' | 'repeat' {
  if (now.suspicion === null || now.verdict.is === 'supported') return 'accept';
  if (before === null || !now.isSame) return 'repeat';
  if (before.verdict.is === 'contradicted') return 'ask';
  return now.verdict.is === 'contradicted' ? 'repeat' : 'accept';
}

async function lookAt(
  page: JudgedPage,
  before: JudgedPage | null,
  context: RecheckContext,
): Promise<Answer> {
  const suspicion = suspicious(page);
  return {
    suspicion,
    verdict: suspicion === 'end' ? await judgeEnd(page, context) : { is: 'unsupported' },
    isSame: suspicion !== null && before !== null && saysTheSame(before, page, context),
  };
}

/** Of empty pages in a row the first one needs other evidence. */
function suspicious({ emptyRun, end, isFromTop }: JudgedPage): Suspicion | null {
  if (end?.is === 'end') return 'end';
  if (end?.is === 'bound' && end.bound === 'since') return 'since';
  if (isFromTop) return 'from-top';
  return emptyRun === 1 && end === null ? 'empty' : null;
}

/** Decoded once: a compared page would be decoded up to four times in one turn of the event loop. */
const decoded = new WeakMap<Envelope, ItemRows[]>();

function rowsIn(
  { facts: { page_id }, envelope }: JudgedPage,
  { walk: { chain_id, scope }, reader: { operation }, step: { position } }: RecheckContext,
): ItemRows[] {
  const place = { chain_id, scope, page_id, position };
  const rows = decoded.get(envelope) ?? rowsOf(operation, envelope.items, place);
  decoded.set(envelope, rows);
  return rows;
}

function judgeEnd(page: JudgedPage, context: RecheckContext): Promise<EndVerdict> {
  const { envelope, order } = page;
  const { walk, reader, step } = context;
  const { db, operation, pageSize } = reader;
  const rows = rowsIn(page, context);
  return kindOf(walk.operation).judgeEnd(db, {
    walk_id: walk.id,
    run_id: walk.run_id,
    chain_id: walk.chain_id,
    feed: walk.feed,
    scope: walk.scope,
    quarantined: envelope.items.length - rows.length,
    pageSize,
    rows,
    last: bottomOf(order),
    entry: step.cursor === null ? 'head' : (operation.order?.position(step.cursor) ?? 'unknown'),
    promised: namedBy(operation.order, step.cursor),
    isResumed: step.sequence === walk.pages,
  });
}

/** Makes a request once more, or another one at the same place. */
async function repeatRequest(context: RecheckContext): Promise<JudgedPage> {
  const { walk, reader, step, signal, cursor = step.cursor } = context;
  const served = await requestPage(walk, reader, { ...step, cursor }, signal, true);
  return judgePage(served, context);
}

async function requestAgain({ facts }: JudgedPage, context: RecheckContext): Promise<JudgedPage> {
  const next = await repeatRequest(context);
  const attempts = facts.attempts + next.facts.attempts;
  return { ...next, facts: { ...next.facts, attempts } };
}

/** Whether two answers end, or stay empty, alike. A head, and a list without an order, may move between them: most rows stay. */
function saysTheSame(a: JudgedPage, b: JudgedPage, context: RecheckContext): boolean {
  if (suspicious(a) !== suspicious(b)) return false;
  const placesIn = (page: JudgedPage) =>
    new Set(rowsIn(page, context).map(({ key, height }) => `${height} ${key}`));
  const [before, after] = [placesIn(a), placesIn(b)];
  const most = Math.max(before.size, after.size);
  const common = before.intersection(after).size;
  const mayMove = a.isFromTop || context.reader.operation.order === null;
  return common === most || (mayMove && common * 2 > most);
}

/** Whether the items that contradict an end left: two requests at their position list nothing, or only the item above. */
async function isGone(verdict: EndVerdict, context: RecheckContext): Promise<boolean> {
  const question = verdict.is === 'contradicted' ? verdict.question : null;
  return (
    question !== null && (await endsAt(question, context)) && (await endsAt(question, context))
  );
}

async function endsAt({ cursor, only }: EndQuestion, context: RecheckContext): Promise<boolean> {
  const step = { ...context.step, cursor, previousLast: null, expected: null };
  const page = await repeatRequest({ ...context, step, cursor }).catch(nullIfRefused);
  const { next, unreadable, items } = page?.envelope ?? {};
  if (next !== null || unreadable !== null) return false;
  if (only === null) return items?.length === 0;
  const [first] = page?.order?.inOrder ?? [];
  return items?.length === 1 && first?.height === only.height && first.key === only.key;
}

/** A synthetic cursor may be refused: then it says nothing. */
function nullIfRefused(error: unknown): null {
  if (error instanceof ExplorerError && (error.status === 400 || error.status === 422)) return null;
  throw error;
}

const truncated = (detail: string) =>
  new ExplorerError({ failure: 'truncated', status: 200, detail });
