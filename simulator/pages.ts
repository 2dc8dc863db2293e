import type { Random } from './random.ts';
import type { Oddity, World } from './world.ts';

/** What the service answers: a status and a JSON body. */
export interface Answer {
  readonly status: number;
  readonly body: unknown;
  /** How many items the body hands out, copies included. */
  readonly items: number;
}

/** An answer without items. */
export const refuse = (status: number, body: unknown): Answer => ({ status, body, items: 0 });

/** A parameter of a request, and what is wrong with it. */
type Problem = readonly [name: string, detail: string];

/** The least and the greatest value of an integer in a query. */
type Bounds = readonly [number, number];

/**
 * Reads a query, and refuses parameters that the operation does not take; beside these, all operations take the API
 * key and the optional secret key.
 */
function readQuery(
  query: URLSearchParams,
  integers: Readonly<Record<string, Bounds>>,
  { texts = [], known = [] }: { texts?: readonly string[]; known?: readonly Problem[] },
) {
  const declared = new Set(['apikey', 'key', ...texts, ...Object.keys(integers)]);
  const unexpected = [...query.keys()].filter((name) => !declared.has(name));
  const problems = new Map(unexpected.map((name) => [name, `Unexpected field: ${name}`]));
  const values: Partial<Record<string, number>> = {};
  for (const [name, bounds] of Object.entries(integers)) {
    const value = query.get(name);
    const detail = value === null ? null : findProblem(value, bounds);
    if (detail !== null) problems.set(name, detail);
    else if (value !== null) values[name] = Number(value);
  }
  const errors = [...new Map([...problems, ...known])].map(([name, detail]) => {
    return { title: 'Invalid value', source: { pointer: `/${name}` }, detail };
  });
  return { values, refusal: errors.length === 0 ? null : refuse(422, { errors }) };
}

function findProblem(value: string, [least, greatest]: Bounds): string | null {
  if (!/^-?\d{1,15}$/.test(value)) return 'Invalid integer. Got: string';
  const number = Number(value);
  if (number < least) return `${number} is smaller than inclusive minimum ${least}`;
  if (number > greatest) return `${number} is larger than inclusive maximum ${greatest}`;
  return null;
}

/** Largest page that the lists serve, and the size of a page when none is requested. */
export const pageLimit = 50;

type Cursor = Readonly<Record<string, string | number>>;

/** The position of an item in a list in descending order. */
export interface Position {
  readonly value: number;
  /** Distinguishes items of one value: parts with commas between, numbers or text. */
  readonly key: string;
}

/** Whether an item at the left position comes before one at the right. */
function isAbove(left: Position, right: Position): boolean {
  if (left.value !== right.value) return left.value > right.value;
  const [ours, theirs] = [left.key.split(','), right.key.split(',')];
  const at = ours.findIndex((part, index) => part !== theirs[index]);
  const [own = '', other = ''] = [ours[at], theirs[at]];
  return /^\d+$/.test(own) ? Number(own) > Number(other) : own > other;
}

/** Sorts items in descending order. */
export const inOrder = <Item>(items: Item[], positionOf: (item: Item) => Position): Item[] =>
  items.sort((left, right) => (isAbove(positionOf(left), positionOf(right)) ? -1 : 1));

/** What every item of a list has. */
export interface Listed {
  readonly ordinal: number;
  readonly lacksHash: boolean;
}

/** A list in descending order, at one time. */
export interface List<Item extends Listed> {
  /** The lowest and the highest value that an item may have. */
  readonly bottom: number;
  readonly head: number;
  /** How many values there are to an item, about. */
  readonly spacing: number;
  /** The items with values in a range from bottom to head, both ends included, in order. */
  readonly between: (lowest: number, highest: number) => readonly Item[];
  readonly positionOf: (item: Item) => Position;
  readonly render: (item: Item) => unknown;
}

/** How the pages of a list follow each other. */
export type Paging = ByNumber | ByToken;

/** The cursor is the value of the last item that was served. */
interface ByNumber {
  /** What the cursor calls it. */
  readonly cursor: string;
}

/** The cursor is a token: the position of the next item. */
interface ByToken {
  readonly cursor: 'page_token';
  /** The form of a position's key, as a regular expression. */
  readonly keyForm: string;
  /** The key as a token has it; itself if absent. */
  readonly printKey?: (key: string) => string;
}

/** A list of items that are all at hand, in any order. */
export function listAll<Item extends Listed>(
  items: readonly Item[],
  positionOf: (item: Item) => Position,
  render: (item: Item) => unknown,
): List<Item> {
  const ordered = inOrder([...items], positionOf);
  const [first] = ordered;
  return {
    bottom: 0,
    head: first === undefined ? -1 : positionOf(first).value,
    spacing: Infinity,
    between: (lowest, highest) =>
      ordered.filter((item) => {
        const { value } = positionOf(item);
        return value >= lowest && value <= highest;
      }),
    positionOf,
    render,
  };
}

/** What is made of each number of a range, the highest first. */
export const descending = <Made>(
  lowest: number,
  highest: number,
  make: (value: number) => Made,
): Made[] => Array.from({ length: highest - lowest + 1 }, (_, place) => make(highest - place));

/** The items from a position downward, or from the head; `length` at most. */
export function itemsBelow<Item extends Listed>(
  { bottom, head, spacing, between, positionOf }: List<Item>,
  position: Position | null,
  length: number,
): Item[] {
  let found: Item[] = [];
  let highest = Math.min(position?.value ?? Infinity, head);
  let width = Math.ceil(length * spacing);
  while (found.length < length && highest >= bottom) {
    const lowest = Math.max(bottom, highest - width);
    const isBelow = (item: Item) => position === null || !isAbove(positionOf(item), position);
    found = found.concat(between(lowest, highest).filter(isBelow));
    highest = lowest - 1;
    width *= 2;
  }
  return found.slice(0, length);
}

/** The item just above one that is on the list. */
function itemAbove<Item extends Listed>(
  { head, between, positionOf }: List<Item>,
  item: Item,
): Item | undefined {
  const own = positionOf(item);
  for (let reach = 4; ; reach *= 4) {
    const highest = Math.min(head, own.value + reach);
    const above = between(own.value, highest).findLast((other) => isAbove(positionOf(other), own));
    if (above !== undefined || highest === head) return above;
  }
}

/** What is odd about the page whose first item has this ordinal; the same at every reading. */
function pageEventsAt({ draw, oddities }: World, ordinal: number) {
  const random = draw('page', ordinal);
  const happens = (oddity: Oddity, every: number) => random.oneIn(every) && oddities.has(oddity);
  return {
    /** One item comes twice. */
    copiesOne: happens('duplicates-in-page', 7),
    /** The last item of the page before comes again as the first. */
    repeatsBefore: happens('duplicates-across-pages', 5),
    /** An empty page comes first, whose cursor leads on. */
    emptyFirst: happens('empty-page-with-cursor', 9),
    /** Which comes twice: a number to be taken modulo the items. */
    copied: random.next(),
  };
}

/** A request of a list that the chain serves. */
export interface Call {
  readonly world: World;
  readonly query: URLSearchParams;
  /** The batch number as written; empty for lists without. */
  readonly batch: string;
}

/** A page of a list. */
export const answerList = <Item extends Listed>(
  call: Call,
  paging: Paging,
  list: List<Item>,
): Answer =>
  'keyForm' in paging ? answerByToken(call, paging, list) : answerByNumber(call, paging, list);

/** A page of these items and their copies; `next` absent at the end of the list. */
function answerPage<Item extends Listed>(
  { world, query }: Call,
  list: List<Item>,
  own: readonly Item[],
  next?: Cursor,
): Answer {
  const { oddities } = world;
  const [first] = own;
  const served = [...own];
  if (first !== undefined) {
    const events = pageEventsAt(world, first.ordinal);
    const place = events.copied % own.length;
    const copied = events.copiesOne ? own[place] : undefined;
    const before = events.repeatsBefore ? itemAbove(list, first) : undefined;
    // What cannot be a row is never copied, so that the number of those handed out stays known.
    if (copied?.lacksHash === false) served.splice(place, 0, copied);
    if (before?.lacksHash === false) served.unshift(before);
  }
  const items = served.map((item) => list.render(item));
  const answer = (rest: object) => ({ status: 200, body: { items, ...rest }, items: items.length });
  if (next !== undefined) {
    const echoed = oddities.has('echo-key') && query.has('key') ? { key: query.get('key') } : {};
    return answer({ next_page_params: { ...next, ...echoed } });
  }
  if (oddities.has('end-absent')) return answer({});
  return answer({ next_page_params: oddities.has('end-empty-object') ? {} : null });
}

/** Where v12 stops to grow a page, however large an `items_count` is requested. */
const clampedLimit = 100;

/** Older generations take no size, and add the length of the page just served to the cursor. */
function answerByNumber<Item extends Listed>(
  call: Call,
  { cursor }: ByNumber,
  list: List<Item>,
): Answer {
  const greatest = Number.MAX_SAFE_INTEGER;
  const integers = { [cursor]: [0, greatest], items_count: [1, greatest] } as const;
  const known: readonly Problem[] = /^\d{0,15}$/.test(call.batch)
    ? []
    : [['batch_number_param', 'Invalid integer']];
  const { values, refusal } = readQuery(call.query, integers, { known });
  if (refusal !== null) return refusal;
  const isNew = call.world.chain.generation === 'v12';
  const size = isNew ? Math.min(values['items_count'] ?? pageLimit, clampedLimit) : pageLimit;
  // A cursor of 0 is read as no cursor.
  const start = values[cursor] ? { value: values[cursor] - 1, key: '' } : null;
  // One more than the page holds: whether there is one shows whether the list goes on.
  const own = itemsBelow(list, start, size + 1);
  const last = own.length > size ? own[size - 1] : undefined;
  const count = isNew ? {} : { items_count: size };
  const next = last && { [cursor]: list.positionOf(last).value, ...count };
  return answerPage(call, list, own.slice(0, size), next);
}

/** Marks the token of a page whose empty forerunner has been served. */
const resumedMark = ',e';

function answerByToken<Item extends Listed>(
  call: Call,
  { keyForm, printKey = String }: ByToken,
  list: List<Item>,
): Answer {
  const { world, query } = call;
  const integers = { page_size: [1, pageLimit] } as const;
  const { values, refusal } = readQuery(query, integers, { texts: ['page_token'] });
  if (refusal !== null) return refusal;
  const { page_size = pageLimit } = values;
  const token = query.get('page_token');
  const form = new RegExp(`^(\\d{1,15}),(${keyForm})(${resumedMark})?$`, 'i');
  const [, value, key = '', resumed] = form.exec(token ?? '') ?? [];
  if (token !== null && value === undefined) {
    return refuse(400, { code: 3, message: 'invalid format for page_token' });
  }
  const start = value === undefined ? null : { value: Number(value), key: key.toLowerCase() };
  // One more than the page holds: its position is the token.
  const own = itemsBelow(list, start, page_size + 1);
  const [first, following] = [own[0], own[page_size]];
  const tokenOf = (item: Item, mark = '') => {
    const position = list.positionOf(item);
    return { page_size, page_token: `${position.value},${printKey(position.key)}${mark}` };
  };
  if (first && !resumed && pageEventsAt(world, first.ordinal).emptyFirst) {
    return answerPage(call, list, [], tokenOf(first, resumedMark));
  }
  const next = following && tokenOf(following);
  return answerPage(call, list, own.slice(0, page_size), next);
}

/** Nothing to say: the service prints null, or leaves the member out. */
export const printNothing = (shape: Random): null | undefined =>
  shape.oneIn(2) ? null : undefined;

/** Members as the service prints them, in their order. */
export const printMembers = (members: object, shape: Random): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(members).map(([name, value]: [string, unknown]) => [
      name,
      value ?? printNothing(shape),
    ]),
  );
