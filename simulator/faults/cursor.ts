import type { AskedPage, Fault } from '../fault.ts';
import { alterPage, pageOf, sizeName, type Page } from './page.ts';

type Cursor = NonNullable<Page['next_page_params']>;

/** The parameters that say where a page begins. */
const places = ['page_token', 'block_number'];

/** The cursor that a page was asked for with; null for the first one. */
function cursorOf({ searchParams }: URL): Cursor | null {
  const named = places.filter((name) => searchParams.has(name));
  return named.length === 0
    ? null
    : Object.fromEntries(named.map((name) => [name, searchParams.get(name)]));
}

/** Hands out the cursor that the page was asked for with, from the second page on. */
const repeated = (): Fault =>
  alterPage((page, { url }) => {
    const own = cursorOf(url);
    if (own === null) return page;
    return { ...page, next_page_params: { ...page.next_page_params, ...own } };
  });

/** Leads from the `length`th page of a list back to the second, for as long as anyone follows. */
function circle(length: number, serve: (asked: AskedPage) => AskedPage = (asked) => asked): Fault {
  const given = new Map<string, Cursor[]>();
  const altered = alterPage((page, { url }) => {
    const own = cursorOf(url);
    const known = own === null ? [] : (given.get(url.pathname) ?? []);
    given.set(url.pathname, known);
    if (known.length < length - 1 && page.next_page_params) known.push(page.next_page_params);
    const at = own === null ? -1 : known.findIndex((cursor) => isSame(cursor, own));
    return { ...page, next_page_params: known[(at + 1) % Math.max(known.length, 1)] ?? null };
  });
  return 'page' in altered ? { page: (asked) => altered.page(serve(asked)) } : altered;
}

/** A parameter is text where the cursor may have had a number. */
const spell = (value: string | number | null | undefined) => String(value ?? '');
const isSame = (a: Cursor, b: Cursor) => places.every((name) => spell(a[name]) === spell(b[name]));

/** Pages of one item: a circle of a thousand pages need not be a list of fifty thousand items. */
function withSmallPages({ url, serve }: AskedPage): AskedPage {
  const small = (at: URL) => {
    const asked = new URL(at);
    asked.searchParams.set(sizeName(at), '1');
    return serve(asked);
  };
  return { url, serve: small };
}

/** What a growing token is filled with; no true one has it. */
const filling = '~';
/** Characters that a token grows by at first; twice as many with each page. */
const firstFilling = 64;

/** Hands out ever longer tokens, and the last page again and again. */
const growing = (): Fault => ({
  page({ url, serve }) {
    const token = url.searchParams.get('page_token') ?? '';
    const bare = token.replace(/~+$/u, '');
    const at = new URL(url);
    if (bare === '') at.searchParams.delete('page_token');
    else at.searchParams.set('page_token', bare);
    const answer = serve(at);
    if (answer.status !== 200) return answer;
    const page = pageOf(answer);
    const filled = filling.repeat(Math.max(firstFilling, 2 * (token.length - bare.length)));
    const next = `${spell(page.next_page_params?.['page_token'] ?? bare)}${filled}`;
    const body = { ...page, next_page_params: { ...page.next_page_params, page_token: next } };
    return { ...answer, body };
  },
});

/** Cursors that lead nowhere. */
export const cursorFaults = {
  'cursor-repeated': repeated,
  'cursor-circle-of-3': () => circle(3),
  'cursor-circle-of-1000': () => circle(1000, withSmallPages),
  'cursor-growing': growing,
} as const satisfies Readonly<Record<string, () => Fault>>;
