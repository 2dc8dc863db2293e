import { pageLimit, refuse, type Answer } from './pages.ts';
import { wireFaults, type WireFault } from './wire-faults.ts';

/** What goes wrong with one answer. */
export type Fault = CannedFault | PageFault | WireFault;

/** An answer that the service gives in place of the true one. */
export interface CannedFault {
  readonly status: number;
  /** Text is sent as it is, as HTML; anything else as JSON. */
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string | number>>;
}

/** What a fault may depend on. */
export interface FaultRequest {
  /** 0 if the path has none. */
  readonly chainId: number;
  readonly operation: string;
  readonly url: URL;
  /** How many requests came before this one. */
  readonly number: number;
  /** Unix time in ms. */
  readonly now: number;
}

/**
 * Chooses what goes wrong with a request; null: nothing does.
 *
 * @param random uniform in [0, 1), the same for the same seed and number of the request
 */
export type Faults = (request: FaultRequest, random: () => number) => Fault | null;

const canned = (status: number, body: unknown, headers: CannedFault['headers'] = {}) => ({
  status,
  body,
  headers,
});

const html = (title: string) =>
  `<!DOCTYPE html><html><head><title>${title}</title></head><body><h1>${title}</h1></body></html>`;

const tooMany = { message: 'Too many requests. Please slow down.' };

/** Every answer that the service is known to refuse or fail with, by a name of ours. */
export const statusFaults = {
  '400-action': canned(400, { message: 'Unknown API v2 action' }),
  '400-token': canned(400, { code: 3, message: 'invalid format of page_token' }),
  '401': canned(401, { error: 'Unauthorized' }),
  '402-credits': canned(402, { error: 'Out of credits' }),
  '402-key': canned(402, { error: 'Proceed with API key or make a X402 payment to continue' }),
  '404-network': canned(404, { error: 'Network not supported', source: 'internal' }),
  '422': canned(422, {
    errors: [{ title: 'Invalid value', source: { pointer: '/page_size' }, detail: 'is too large' }],
  }),
  '429-bare': canned(429, { error: 'Too many requests' }),
  '429-seconds': canned(429, tooMany, { 'retry-after': 1 }),
  '429-date': canned(429, tooMany, {
    date: 'Wed, 21 Oct 2026 07:28:00 GMT',
    'retry-after': 'Wed, 21 Oct 2026 07:28:01 GMT',
  }),
  '429-reset': canned(429, tooMany, { 'x-ratelimit-remaining': 0, 'x-ratelimit-reset': 1000 }),
  '500': canned(500, { error: 'Internal server error', source: 'upstream' }),
  '501': canned(501, { error: 'Not implemented', source: 'upstream' }),
  '501-disabled': canned(501, { message: 'Service is disabled' }),
  '502-html': canned(502, html('502 Bad Gateway')),
  '503': canned(503, { error: 'Service unavailable', source: 'internal' }),
  '504-html': canned(504, html('504 Gateway Time-out')),
  '504': canned(504, { error: 'timeout', source: 'internal' }),
} as const;

/** The true answer to a URL. */
type Serve = (url: URL) => Answer;

/** A page that is made from the true one to this URL, or to others. */
interface PageFault {
  readonly page: (url: URL, serve: Serve) => Answer;
}

/** A page as the service's lists make it. */
interface Page {
  readonly items: readonly Item[];
  readonly next_page_params?: Cursor | null;
}

type Item = Readonly<Record<string, unknown>>;
type Cursor = Readonly<Record<string, string | number | null>>;

/** Makes another page of the true one; what is no page stays as it is. */
export const alterPage = (alter: (page: Page, url: URL) => object): PageFault => ({
  page(url, serve) {
    const answer = serve(url);
    return answer.status === 200 ? { ...answer, body: alter(answer.body as Page, url) } : answer;
  },
});

/** The same address with another size of page. */
function withSize(url: URL, size: number): URL {
  const sized = new URL(url);
  const name = url.pathname.includes('/optimism-batch/') ? 'items_count' : 'page_size';
  sized.searchParams.set(name, String(size));
  return sized;
}

/** How many items the large page has, if the list has as many. */
const largeLength = 10_000;

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

/** Pages of one item: a circle of a thousand pages need not be a list of fifty thousand items. */
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

const withNesting = (depth: number) =>
  alterItem((item) => ({ ...item, note: placeholder }), `${'['.repeat(depth)}${']'.repeat(depth)}`);

const note = 'x'.repeat(1024 * 1024);

/** Wrong answers that are made from the true one; a function opens one that counts pages. */
const pageFaults = {
  // No page of the list, or one out of all proportion or order.
  '200-html': canned(200, '<!DOCTYPE html><html><head><title>Just a moment</title></head></html>'),
  '200-error': canned(200, { error: 'Internal server error' }),
  '200-empty': { page: () => refuse(200, Buffer.alloc(0)) },
  'other-shape': alterPage(({ items }) => ({ result: items, status: '1' })),
  'items-as-object': alterPage(({ items, ...rest }) => ({
    items: Object.assign({}, items),
    ...rest,
  })),
  'bare-list': alterPage(({ items }) => items),
  'wrong-order': alterPage(({ items, ...rest }) => ({ items: items.toReversed(), ...rest })),
  'page-of-10000': { page: serveLarge },
  // Cursors that lead nowhere.
  'cursor-repeated': alterPage((page, url) => {
    const name = placeIn(url);
    if (name === undefined) return page;
    const own = { [name]: url.searchParams.get(name) };
    return { ...page, next_page_params: { ...page.next_page_params, ...own } };
  }),
  'cursor-circle-of-3': () => circle(3),
  'cursor-circle-of-1000': () => withSmallPages(circle(1000)),
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
  'lone-surrogate': withEntry('note \uD800', 'half \uDC00 a pair, and \0'),
  'proto-key': withEntry('__proto__', { polluted: true }),
  'constructor-key': withEntry('constructor', { prototype: { polluted: true } }),
} as const;

/** A function opens a fault that counts pages. */
const faults = { ...statusFaults, ...wireFaults, ...pageFaults };

export type StatusFault = keyof typeof statusFaults;
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

/** A fault, and how often it happens. */
export interface FaultRate {
  readonly name: FaultName;
  /** Part of the requests, above 0 and at most 1. */
  readonly rate: number;
}

/** Each request draws for each fault in turn; the first that is drawn happens. */
export function faultsAtRates(rates: readonly FaultRate[]): Faults {
  const opened = rates.map(({ name, rate }) => ({ fault: openFault(name), rate }));
  return (_request, random) => opened.find(({ rate }) => random() < rate)?.fault ?? null;
}
