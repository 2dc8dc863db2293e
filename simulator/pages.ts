import type { Random } from './random.ts';
import type { World } from './world.ts';

/** What the service answers: a status and a JSON body. */
export interface Answer {
  readonly status: number;
  readonly body: unknown;
  /** How many items the body hands out, copies included. */
  readonly items: number;
}

/** An answer without items. */
export const refuse = (status: number, body: unknown): Answer => ({ status, body, items: 0 });

/** What is wrong with a query parameter. */
interface Problem {
  readonly name: string;
  readonly detail: string;
}

/** The answer to parameters that the operation does not take. */
function refuseParameters(problems: readonly Problem[]): Answer {
  const errors = problems.map(({ name, detail }) => ({
    title: 'Invalid value',
    source: { pointer: `/${name}` },
    detail,
  }));
  return refuse(422, { errors });
}

/** The least and the greatest value of an integer in a query. */
type Bounds = readonly [number, number];

/** Reads a query; beside these, all operations take the API key and the optional secret key. */
function readQuery<Name extends string>(
  query: URLSearchParams,
  integers: Readonly<Record<Name, Bounds>>,
  texts: readonly string[] = [],
) {
  const declared = new Set(['apikey', 'key', ...texts, ...Object.keys(integers)]);
  const problems: Problem[] = [...new Set(query.keys())]
    .filter((name) => !declared.has(name))
    .map((name) => ({ name, detail: `Unexpected field: ${name}` }));
  const values: Partial<Record<string, number>> = {};
  for (const [name, bounds] of Object.entries<Bounds>(integers)) {
    const value = query.get(name);
    const detail = value === null ? null : findProblem(value, bounds);
    if (detail !== null) problems.push({ name, detail });
    else if (value !== null) values[name] = Number(value);
  }
  return { values: values as Partial<Record<Name, number>>, problems };
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

/** A page as the service wraps it; `next` absent at the end. */
function answerPage(
  { oddities }: World,
  query: URLSearchParams,
  items: readonly unknown[],
  next?: Cursor,
): Answer {
  const answer = (rest: object) => ({ status: 200, body: { items, ...rest }, items: items.length });
  if (next !== undefined) {
    const echoed = oddities.has('echo-key') && query.has('key') ? { key: query.get('key') } : {};
    return answer({ next_page_params: { ...next, ...echoed } });
  }
  if (oddities.has('end-absent')) return answer({});
  return answer({ next_page_params: oddities.has('end-empty-object') ? {} : null });
}

/** Every how many pages each oddity shows. */
const withinEvery = 7;
const beforeEvery = 5;
const emptyEvery = 9;

/** What is odd about the page whose first item has this index; the same at every reading. */
export function pageEventsAt({ draw, oddities }: World, index: number) {
  const random = draw('page', index);
  const isWithin = random.oneIn(withinEvery);
  const isBefore = random.oneIn(beforeEvery);
  const isEmpty = random.oneIn(emptyEvery);
  return {
    /** One item comes twice: which, as a number to be taken modulo the items. */
    copyWithin: oddities.has('duplicates-in-page') && isWithin ? random.next() : null,
    /** The last item of the page before comes again as the first. */
    repeatsBefore: oddities.has('duplicates-across-pages') && isBefore,
    /** An empty page comes first, whose cursor leads on. */
    emptyFirst: oddities.has('empty-page-with-cursor') && isEmpty,
  };
}

/**
 * The items of a page with its copies. An item that cannot be a row is never copied, so that the
 * number of those handed out stays known.
 */
export function addCopies<Item extends { readonly lacksHash: boolean }>(
  items: readonly Item[],
  before: Item | undefined,
  { copyWithin, repeatsBefore }: ReturnType<typeof pageEventsAt>,
): Item[] {
  const place = copyWithin === null ? -1 : copyWithin % items.length;
  const copied = items.flatMap((item, at) =>
    at === place && !item.lacksHash ? [item, item] : [item],
  );
  const repeats = repeatsBefore && items.length > 0 && before?.lacksHash === false;
  return repeats ? [before, ...copied] : copied;
}

/** A list in descending order of a number, as it stands at one time. */
export interface CountedList<Item> {
  /** What the cursor calls the number. */
  readonly cursor: string;
  readonly numberOf: (item: Item) => number;
  /** The items below a number; `length` at most. */
  readonly below: (number: number, length: number) => readonly Item[];
  /** What is served of the items of a page, copies included; themselves if absent. */
  readonly served?: (items: readonly Item[]) => readonly Item[];
  readonly render: (item: Item) => unknown;
}

/** Where v12 stops to grow a page, however large an `items_count` is requested. */
const clampedLimit = 100;

/**
 * A page of a counted list. Older generations take no size, and add the length of the page just
 * served to the cursor.
 *
 * @param found what is wrong with the request already
 */
export function answerCounted<Item>(
  world: World,
  query: URLSearchParams,
  { cursor, ...list }: CountedList<Item>,
  found: readonly Problem[] = [],
): Answer {
  const greatest = Number.MAX_SAFE_INTEGER;
  const bounds: Record<string, Bounds> = { [cursor]: [0, greatest], items_count: [1, greatest] };
  const { values, problems } = readQuery(query, bounds);
  if (problems.length + found.length > 0) return refuseParameters([...problems, ...found]);
  const isNew = world.chain.generation === 'v12';
  const size = isNew ? Math.min(values['items_count'] ?? pageLimit, clampedLimit) : pageLimit;
  // One more than the page holds: whether there is one shows whether the list goes on.
  const own = list.below(values[cursor] ?? Infinity, size + 1);
  const page = own.slice(0, size);
  const last = own.length > size ? page.at(-1) : undefined;
  const count = isNew ? {} : { items_count: page.length };
  const next = last && { [cursor]: list.numberOf(last), ...count };
  const items = (list.served?.(page) ?? page).map((item) => list.render(item));
  return answerPage(world, query, items, next);
}

/** Where an item stands in a list in descending order. */
export interface Position {
  readonly value: number;
  /** Distinguishes items of one value: lower-case hexadecimal with 0x, and an index if there is one. */
  readonly key: string;
}

/** Whether an item at the left position comes before one at the right. */
export const isAbove = (left: Position, right: Position): boolean =>
  left.value === right.value ? left.key > right.key : left.value > right.value;

/** A list in descending order, as it stands at one time. */
export interface RankedList<Item> {
  /** The items from a position downward, or from the head; `length` at most. */
  readonly below: (position: Position | null, length: number) => readonly Item[];
  /** The item just above one that is on the list. */
  readonly above: (item: Item) => Item | undefined;
  /** The token of a page that begins with this item: its position. */
  readonly token: (item: Item) => string;
  /** How many hexadecimal digits the key of a position has. */
  readonly digits: number;
  /** Whether an index follows them: 15 digits in a position, as many as it has in a token. */
  readonly hasIndex?: boolean;
  readonly render: (item: Item) => unknown;
}

/** Marks the token of a page whose empty forerunner has been served. */
const resumedMark = ',e';

/** A page of a ranked list. */
export function answerRanked<
  Item extends { readonly ordinal: number; readonly lacksHash: boolean },
>(world: World, query: URLSearchParams, list: RankedList<Item>): Answer {
  const { values, problems } = readQuery(query, { page_size: [1, pageLimit] }, ['page_token']);
  if (problems.length > 0) return refuseParameters(problems);
  const { page_size = pageLimit } = values;
  const token = query.get('page_token');
  const isResumed =
    world.oddities.has('empty-page-with-cursor') && token?.endsWith(resumedMark) === true;
  const start = isResumed ? token.slice(0, -resumedMark.length) : token;
  const position = start === null ? null : parseToken(start, list);
  if (position === undefined) {
    return refuse(400, { code: 3, message: 'invalid format for page_token' });
  }
  // One more than the page holds: its position is the token.
  const own = list.below(position, page_size + 1);
  const first = own[0];
  if (first === undefined) return answerPage(world, query, []);
  const events = pageEventsAt(world, first.ordinal);
  if (events.emptyFirst && !isResumed) {
    const page_token = `${list.token(first)}${resumedMark}`;
    return answerPage(world, query, [], { page_size, page_token });
  }
  const before = events.repeatsBefore ? list.above(first) : undefined;
  const items = addCopies(own.slice(0, page_size), before, events);
  const following = own[page_size];
  const next = following && { page_size, page_token: list.token(following) };
  return answerPage(
    world,
    query,
    items.map((item) => list.render(item)),
    next,
  );
}

/** The position that a token names; undefined if it is no token. */
function parseToken(
  token: string,
  { digits, hasIndex = false }: Pick<RankedList<never>, 'digits' | 'hasIndex'>,
): Position | undefined {
  const [, value, hash = '', index] =
    /^(\d{1,15}),(0x[0-9a-f]+)(?:,(\d{1,15}))?$/i.exec(token) ?? [];
  if (value === undefined || hash.length !== digits + '0x'.length) return undefined;
  if ((index !== undefined) !== hasIndex) return undefined;
  const key = index === undefined ? hash : `${hash},${index.padStart(15, '0')}`;
  return { value: Number(value), key: key.toLowerCase() };
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
