import { ExplorerError } from '../explorer/error.ts';
import { kindOf } from '../lists/index.ts';
import type { EndQuestion, EndVerdict, ItemRows, ListOrder, Scope } from '../lists/operation.ts';
import { namedBy, sharesStored } from '../lists/positions.ts';
import type { WalkRow } from '../lists/tables.ts';
import {
  boundBy,
  identityOf,
  judgeProgress,
  lowestOf,
  missedEntry,
  type WalkEnd,
} from './judge.ts';
import {
  bottomOf,
  isOlder,
  judgeOrder,
  lacksEntry,
  mayListEntry,
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
  const { known, entry } = walk.scope;
  const list = reader.operation.order;
  const borders = list === null ? null : bordersOf(list, envelope, step);
  const places = list === null ? [] : reportedPlaces(list, envelope.items);
  const listed = borders === null ? null : judgeOrder(places, borders);
  const named = namedBy(list, step.cursor);
  // Whether it lacks the item that the list's own cursor names.
  const isOther = borders !== null && lacksEntry(places, borders) && named !== null;
  const isUnread = isOther && mayListEntry(places, borders);
  const emptyRun = facts.items === 0 ? step.emptyRun + 1 : 0;
  const arrival = judgeArrival(walk.scope, step, listed, facts.items);
  // Nothing confirms a number of a page that may be anywhere.
  const order = listed !== null && missedEntry({ end: arrival }) ? withoutPlace(listed) : listed;
  // An empty page has no time: it neither ends a walk at `since`, nor changes how old the page before is.
  const isPast = facts.items === 0 ? step.isOlder : isOlder(order, walk.scope.since);
  const end =
    arrival ??
    judgeProgress(walk.scope, {
      cursor_in: facts.cursor_in,
      cursor_out: facts.cursor_out,
      unreadable: envelope.unreadable,
      pages: step.sequence + 1,
      emptyRun,
      isPastSince: facts.items > 0 && isPast && step.isOlder,
      lowest: lowestOf(order),
      floor: reader.floor(),
      showsKnown: places.some(
        (place) => known?.height === place.height && known.hash === place.key,
      ),
    });
  const isFromTop = step.cursor === null && facts.cursor_in !== null;
  const isEntry = entry !== undefined && step.sequence === 0 && facts.items > 0 && named === null;
  return { ...page, order, isOther, isUnread, isFromTop, isEntry, emptyRun, isOlder: isPast, end };
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

/** What of a page needs other evidence. */
type Suspicion = 'end' | 'since' | 'from-top' | 'entry' | 'other' | 'empty';

/**
 * Of empty pages in a row the first one needs other evidence, also if the walk ends with it: a probe takes its number for
 * empty, and no other walk reads what was above the cursor of the next one.
 */
function suspicionOf({ emptyRun, end, isFromTop, isEntry, isOther }: JudgedPage): Suspicion | null {
  if (end?.is === 'end') return 'end';
  if (end?.is === 'bound' && end.bound === 'since') return 'since';
  if (isFromTop) return 'from-top';
  // No page has named an item that has to be there.
  if (isEntry && !missedEntry({ end })) return 'entry';
  if (isOther) return 'other';
  return emptyRun === 1 && isFollowed(end) ? 'empty' : null;
}

/** Whether there is more behind an empty page, though its walk may end with it. */
const isFollowed = (end: WalkEnd | null): boolean =>
  end === null || (end.is === 'bound' && (end.bound === 'max-pages' || end.bound === 'until'));

/** Whether a page may be the service's mistake: `settle` finds out once all pages before it are stored. */
export const isClaim = (page: JudgedPage): boolean => suspicionOf(page) !== null;

/** Above all blocks and batches. One more is the most that a parameter of 32 bits holds. */
const topHeight = 2 ** 31 - 2;

/**
 * Settles a claim, once all pages before it are stored. An empty head that leads on may hide what is above its cursor: a
 * synthetic cursor above all heights is requested in its place; if the service refuses it, the head itself once more.
 * @throws ExplorerError 'truncated' where the list ends again and again where it cannot
 */
export async function settle(claim: JudgedPage, context: RecheckContext): Promise<JudgedPage> {
  const { order } = context.reader.operation;
  const isEmptyHead = context.step.cursor === null && suspicionOf(claim) === 'empty';
  if (!isEmptyHead || order?.givesCoverage !== true) return confirm(claim, context);
  const fromTop = { ...context, cursor: order.cursorAt(order.topOf(topHeight)) };
  const served = await requestAgain(claim, fromTop).catch(nullIfRefused);
  if (served === null) return confirm(claim, context);
  const page = await confirm(served, fromTop);
  const top = page.order?.inOrder[0]?.height ?? -1;
  // The cursor of a list of numbers is one above its page.
  const isReached = top + 1 >= (claim.order?.borders.next?.height ?? 0);
  if (page.facts.items === 0 ? !isFollowed(page.end) : !isReached) {
    throw truncated('its first page is empty, and leads on to items that its top does not list');
  }
  return { ...page, facts: { ...page.facts, cursor_in: null } };
}

/** The most answers to one request that are compared. */
const mostAnswers = 4;

/** An answer to a request, as it is compared with the one before. */
export interface Answer {
  /** Null: nothing of it needs other evidence. */
  readonly suspicion: Suspicion | null;
  /** What stored rows say of its end. */
  readonly verdict: EndVerdict;
  /** Whether it says the same as the answer before. */
  readonly isSame: boolean;
}

/** Whether an answer is right: one that comes twice is, unless stored rows contradict it. Pure. */
export const isBelieved = (before: Answer | null, { suspicion, verdict, isSame }: Answer) =>
  suspicion === null ||
  verdict.is === 'supported' ||
  (isSame &&
    verdict.is === 'unsupported' &&
    before?.verdict.is === 'unsupported' &&
    before.verdict.shows === verdict.shows);

/**
 * Makes a request again until an answer is believed. A page that lacks the item of its cursor covers nothing, unless it is
 * believed, and an item without a key may be that one, or one of its items is stored.
 */
async function confirm(claim: JudgedPage, context: RecheckContext): Promise<JudgedPage> {
  const { walk, reader } = context;
  let before: Look | null = null;
  let now = await lookAt(claim, before, context);
  for (let answers = 1; !isBelieved(before, now) && answers < mostAnswers; answers += 1) {
    before = now;
    now = await lookAt(await requestAgain(now.page, context), before, context);
  }
  const { rows, suspicion, verdict } = now;
  const isRight = isBelieved(before, now);
  if (!isRight && suspicion !== 'since' && suspicion !== 'other') {
    const what = suspicion === 'end' ? 'the list ends in another place' : 'its page is another one';
    const differs = `${what} each time it is requested`;
    throw truncated(verdict.is === 'contradicted' ? verdict.evidence : differs);
  }
  const page = isRight || suspicion !== 'since' ? now.page : { ...now.page, end: null };
  if (!page.isOther || reader.operation.order === null) return page;
  const keys = rows.map(({ key }) => key);
  const isListed =
    isRight &&
    (page.isUnread || (await sharesStored(reader.operation, reader.db, walk.chain_id, keys)));
  return isListed ? page : distrust(page);
}

/** An answer with its page. */
interface Look extends Answer {
  readonly page: JudgedPage;
  readonly rows: readonly ItemRows[];
  /** Whether stored rows contradict its end, whatever a request at their position finds. */
  readonly isContested: boolean;
}

const unsupported: EndVerdict = { is: 'unsupported' };

async function lookAt(
  page: JudgedPage,
  before: Look | null,
  context: RecheckContext,
): Promise<Look> {
  const { facts, envelope, isOther } = page;
  const { walk, reader, step } = context;
  const { db, operation, pageSize } = reader;
  const suspicion = suspicionOf(page);
  const { chain_id, scope } = walk;
  const place = { chain_id, scope, page_id: facts.page_id, position: step.position };
  const rows = suspicion === null ? [] : rowsOf(operation, envelope.items, place);
  const mayMove = page.isFromTop || operation.order === null;
  const isSame =
    suspicion !== null &&
    suspicion === before?.suspicion &&
    listsTheSame(before.rows, rows, mayMove ? suspicion : null);
  const look: Look = { page, rows, suspicion, isSame, isContested: false, verdict: unsupported };
  if (suspicion !== 'end') return look;
  const verdict = await kindOf(walk.operation).judgeEnd(db, {
    ...identityOf(walk),
    quarantined: envelope.items.length - rows.length,
    pageSize,
    rows,
    last: bottomOf(page.order),
    cursor: step.cursor,
  });
  // A page that lacks the item of its cursor is requested twice, whatever it shows.
  if (verdict.is === 'supported' && isOther) return look;
  if (verdict.is !== 'contradicted') return { ...look, verdict };
  const contested = { ...look, verdict, isContested: true };
  const isAgain = isSame && before.isContested;
  return isAgain ? withoutEvidence(contested, verdict.question, context) : contested;
}

/** An end that stored rows contradict once more: they contradict it only if a request at their position finds items. */
async function withoutEvidence(
  look: Look,
  question: EndQuestion | null,
  context: RecheckContext,
): Promise<Look> {
  const { walk, step } = context;
  // A cursor that was returned a moment ago is evidence: only a later reading asks whether its item has left.
  if (question === null || (question.only !== null && step.sequence !== walk.pages)) return look;
  const { cursor } = question;
  const at = { ...step, cursor, previousLast: null, expected: null };
  const elsewhere = { ...context, step: at, cursor };
  const answer = await requestAgain(look.page, elsewhere).catch(nullIfRefused);
  if (answer === null) return look;
  // The ledger counts the requests that led to a page.
  const facts = { ...look.page.facts, attempts: answer.facts.attempts };
  const page = { ...look.page, facts };
  return { ...look, page, verdict: endsAt(question, answer) ? unsupported : look.verdict };
}

/** Whether the list ends at a position: a request there lists nothing, or only the item above. */
function endsAt({ only }: EndQuestion, { envelope, order }: JudgedPage): boolean {
  const { next, unreadable, items } = envelope;
  if (next !== null || unreadable !== null) return false;
  if (only === null) return items.length === 0;
  const [first] = order?.inOrder ?? [];
  return items.length === 1 && first?.height === only.height && first.key === only.key;
}

/** Makes a request once more, or another one at the same place; its attempts are added to the page's. */
async function requestAgain(page: JudgedPage, context: RecheckContext): Promise<JudgedPage> {
  const { walk, reader, step, signal, cursor = step.cursor } = context;
  const served = await requestPage(walk, reader, { ...step, cursor }, signal, true);
  const attempts = page.facts.attempts + served.facts.attempts;
  return judgePage({ ...served, facts: { ...served.facts, attempts } }, context);
}

const placesOf = (rows: readonly ItemRows[]) =>
  new Set(rows.map(({ key, height }) => `${height} ${key}`));

/**
 * Whether two answers list the same. A head, and a list without an order, may move between them: most rows stay. What is gone
 * from an end is not listed after it either, and an end that others follow was none.
 */
function listsTheSame(
  a: readonly ItemRows[],
  b: readonly ItemRows[],
  moving: Suspicion | null,
): boolean {
  const [before, after] = [placesOf(a), placesOf(b)];
  const most = Math.max(before.size, after.size);
  const common = before.intersection(after).size;
  if (common === most || moving === null) return common === most;
  const endsAlike = common === before.size && a.at(-1)?.key === b.at(-1)?.key;
  return common * 2 > most && (moving !== 'end' || endsAlike);
}

/** A synthetic cursor may be refused: then it says nothing. */
function nullIfRefused(error: unknown): null {
  if (error instanceof ExplorerError && (error.status === 400 || error.status === 422)) return null;
  throw error;
}

const truncated = (detail: string) =>
  new ExplorerError({ failure: 'truncated', status: 200, detail });
