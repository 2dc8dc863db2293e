import {
  alterPage,
  brokenAnswers,
  type Cursor,
  type Fault,
  type Item,
  type Page,
  type PageFault,
  type Serve,
  statusFaults,
} from '../../simulator/faults.ts';
import { pageLimit, refuse, type Answer } from '../../simulator/pages.ts';
import { wireFaults } from './wire-faults.ts';

/** The same address with another size of page. */
function withSize(url: URL, size: number): URL {
  const sized = new URL(url);
  const name = url.pathname.includes('/optimism-batch/') ? 'items_count' : 'page_size';
  sized.searchParams.set(name, String(size));
  return sized;
}

/** How many items the large page has, if the list has as many: the most that a page may have. */
const largeLength = 500;

/** As many pages in one as the large page takes. */
function serveLarge(url: URL, serve: Serve): Answer {
  const items: Item[] = [];
  const at = withSize(url, pageLimit);
  let next: Page['next_page_params'];
  do {
    const answer = serve(at);
    if (answer.status !== 200) return answer;
    const page = answer.body as Page;
    items.push(...page.items);
    next = page.next_page_params;
    for (const [name, value] of Object.entries(next ?? {})) at.searchParams.set(name, `${value}`);
  } while (items.length < largeLength && Object.keys(next ?? {}).length > 0);
  return { status: 200, body: { items, next_page_params: next ?? null }, items: items.length };
}

/** The parameter that says where a page begins; none for the first one. */
const placeIn = ({ searchParams }: URL) =>
  ['page_token', 'block_number'].find((name) => searchParams.has(name));

/** Leads from the `length`th page of a list back to the second, as often as anyone follows. */
function circle(length: number): PageFault {
  const given = new Map<string, Cursor[]>();
  return alterPage((page, url) => {
    const name = placeIn(url);
    const known = name === undefined ? [] : (given.get(url.pathname) ?? []);
    given.set(url.pathname, known);
    if (known.length < length - 1 && page.next_page_params) known.push(page.next_page_params);
    const own = name && url.searchParams.get(name);
    // A parameter is text where the cursor may have had a number.
    const at = known.findIndex((cursor) => name && `${cursor[name]}` === own);
    return { ...page, next_page_params: known[(at + 1) % Math.max(known.length, 1)] ?? null };
  });
}

/** Pages of one item: a circle of hundreds of pages need not be a list of thousands of items. */
const withSmallPages = ({ page }: PageFault): PageFault => ({
  page: (url, serve) => page(url, (at) => serve(withSize(at, 1))),
});

/** Characters that a token grows by at first; twice as many with each page. No true one has them. */
const filling = '~'.repeat(64);

/** Hands out ever longer tokens, and the last page again and again. */
function serveGrowing(url: URL, serve: Serve): Answer {
  const token = url.searchParams.get('page_token') ?? '';
  const bare = token.replace(/~+$/u, '');
  const at = new URL(url);
  at.searchParams.delete('page_token');
  if (bare !== '') at.searchParams.set('page_token', bare);
  const grown = token.slice(bare.length).repeat(2) || filling;
  return alterPage(({ next_page_params: next, ...page }) => {
    const page_token = `${next?.['page_token'] ?? bare}${grown}`;
    return { ...page, next_page_params: { ...next, page_token } };
  }).page(at, serve);
}

/** Replaced by JSON that no value is written as. */
const placeholder = '@written by hand@';

/** Makes one item of each page wrong, that in its middle; `json` takes the place of a placeholder. */
const alterItem = (alter: (item: Item) => Item, json?: string): PageFault =>
  alterPage(({ items, ...rest }) => {
    const middle = Math.floor(items.length / 2);
    const altered = items.map((item, place) => (place === middle ? alter(item) : item));
    const page = { items: altered, ...rest };
    if (json === undefined) return page;
    return Buffer.from(JSON.stringify(page).replace(`"${placeholder}"`, () => json));
  });

/** A whole number and a text that each list has; the first that an item has is made wrong. */
const numbers = ['block_number', 'total_accounts', 'total_ops', 'height'];
const texts = ['entry_point_version', 'type'];

const fieldOf = (item: Item, names: readonly string[], otherwise: string) =>
  names.find((name) => name in item) ?? otherwise;

const withNumber = (value: unknown, json?: string) =>
  alterItem((item) => ({ ...item, [fieldOf(item, numbers, 'note')]: value }), json);

const withTime = (timestamp: string) => alterItem((item) => ({ ...item, timestamp }));

/** Entries, because a literal would set the prototype. */
const withEntry = (name: string, value: unknown) =>
  alterItem((item) => Object.fromEntries([...Object.entries(item), [name, value]]));

const withNote = (json: string) => alterItem((item) => ({ ...item, note: placeholder }), json);

const withNesting = (depth: number) => withNote(`${'['.repeat(depth)}${']'.repeat(depth)}`);

/** In bytes: a page of so many may become a hundred times as many. */
const manyBytes = 4_000_000;

const withMany = (value: string, first: string) =>
  withNote(`[${first}${`,${value}`.repeat(manyBytes / (value.length + 1))}]`);

const note = 'x'.repeat(1024 * 1024);

/** Wrong answers that are made from the true one; a function opens one that counts pages. */
const pageFaults = {
  // No page of the list, or one out of all proportion or order.
  '200-html': brokenAnswers['200-html'],
  '200-error': { status: 200, body: { error: 'Internal server error' } },
  '200-empty': { page: () => refuse(200, Buffer.alloc(0)) },
  'other-shape': alterPage(({ items }) => ({ result: items, status: '1' })),
  'items-as-object': alterPage(({ items, ...rest }) => ({
    items: Object.assign({}, items),
    ...rest,
  })),
  'bare-list': alterPage(({ items }) => items),
  'wrong-order': alterPage(({ items, ...rest }) => ({ items: items.toReversed(), ...rest })),
  'page-of-500': { page: serveLarge },
  // Cursors that lead nowhere.
  'cursor-repeated': alterPage((page, url) => {
    const name = placeIn(url);
    if (name === undefined) return page;
    const own = { [name]: url.searchParams.get(name) };
    return { ...page, next_page_params: { ...page.next_page_params, ...own } };
  }),
  'cursor-circle-of-3': () => circle(3),
  'cursor-circle-of-300': () => withSmallPages(circle(300)),
  'cursor-growing': { page: serveGrowing },
  // One item of each page with a value that no item should have.
  'number-1e400': withNumber(placeholder, '1e400'),
  'number-negative': withNumber(-1),
  'number-hex': withNumber('0x10'),
  'number-float': withNumber(1.5),
  'number-huge': withNumber('9'.repeat(400)),
  'time-of-year-10000': withTime('10000-01-01T00:00:00.000000Z'),
  'time-of-year-0': withTime('0000-01-01T00:00:00.000000Z'),
  'time-of-no-day': withTime('2026-02-30T00:00:00.000000Z'),
  'string-of-1-mb': alterItem((item) => ({ ...item, [fieldOf(item, texts, 'name')]: note, note })),
  // Shallow enough for JSON.stringify, deeper than any page; then deeper than any recursion goes.
  'nested-1000': withNesting(1000),
  'nested-100000': withNesting(100_000),
  // More values than any page has. With a long number all numbers are compared with their texts.
  'many-brackets': withMany('[]', '1e400'),
  'many-objects': withMany('{"a":{}}', '0'),
  'many-numbers': withMany('1.5e300', '1e400'),
  'many-fields': alterItem((item) => ({
    ...item,
    ...Object.fromEntries(Array.from({ length: 60_000 }, (_, index) => [`field_${index}`, 1])),
  })),
  'many-items': alterPage((page) => ({ ...page, items: Array.from({ length: 2_000 }, () => 0) })),
  'lone-surrogate': withEntry('note \uD800', 'half \uDC00 a pair, and \0'),
  'proto-key': withEntry('__proto__', { polluted: true }),
  'constructor-key': withEntry('constructor', { prototype: { polluted: true } }),
} as const;

/** A function opens a fault that counts pages. */
const faults = { ...statusFaults, ...wireFaults, ...pageFaults };

/** A fault that is more than a refusal. */
export type HostileFault = keyof typeof wireFaults | keyof typeof pageFaults;
export type FaultName = keyof typeof faults;

/** All faults that have a name. */
export const faultNames = Object.keys(faults) as readonly FaultName[];

/** A fault by its name; one that counts pages begins to count. */
export function openFault(name: FaultName): Fault {
  const fault: Fault | (() => Fault) = faults[name];
  return typeof fault === 'function' ? fault() : fault;
}
