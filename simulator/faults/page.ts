import { refuse, type Answer } from '../pages.ts';
import type { AskedPage, Fault } from '../fault.ts';
import { pageLimit } from '../pages.ts';

/** A page as the service's lists make it. */
export interface Page {
  readonly items: readonly Readonly<Record<string, unknown>>[];
  readonly next_page_params?: Readonly<Record<string, string | number | null>> | null;
}

/** Makes another page of the true one; what is no page stays as it is. */
export function alterPage(alter: (page: Page, asked: AskedPage) => object): Fault {
  return {
    page(asked) {
      const answer = asked.serve(asked.url);
      return answer.status === 200 ? { ...answer, body: alter(pageOf(answer), asked) } : answer;
    },
  };
}

/** The service's own pages have this shape. */
export const pageOf = (answer: Answer): Page => answer.body as Page;

/** How a list is told how many items a page is to have. */
export const sizeName = ({ pathname }: URL) =>
  pathname.includes('/optimism-batch/') ? 'items_count' : 'page_size';

/** How many items the large page has, where the list has as many. */
const largeLength = 10_000;

/** As many pages in one as the large page takes. */
function serveLarge({ url, serve }: AskedPage): Answer {
  const items: unknown[] = [];
  const at = new URL(url);
  let next: Page['next_page_params'];
  do {
    at.searchParams.set(sizeName(at), String(pageLimit));
    const answer = serve(at);
    if (answer.status !== 200) return answer;
    const page = pageOf(answer);
    items.push(...page.items);
    next = page.next_page_params;
    for (const [name, value] of Object.entries(next ?? {})) at.searchParams.set(name, `${value}`);
  } while (items.length < largeLength && Object.keys(next ?? {}).length > 0);
  return { status: 200, body: { items, next_page_params: next ?? null }, items: items.length };
}

const html = '<!DOCTYPE html><html><head><title>Just a moment</title></head></html>';

/** Answers that are no page of the list, and pages that are out of all proportion or order. */
export const pageFaults = {
  '200-html': () => ({ status: 200, body: html }),
  '200-error': () => ({ status: 200, body: { error: 'Internal server error' } }),
  '200-empty': () => ({ page: () => refuse(200, Buffer.alloc(0)) }),
  'other-shape': () => alterPage(({ items }) => ({ result: items, status: '1' })),
  'items-as-object': () =>
    alterPage(({ items, ...rest }) => ({ items: Object.fromEntries(items.entries()), ...rest })),
  'bare-list': () => alterPage(({ items }) => items),
  'wrong-order': () => alterPage(({ items, ...rest }) => ({ items: items.toReversed(), ...rest })),
  'page-of-10000': () => ({ page: serveLarge }),
} as const satisfies Readonly<Record<string, () => Fault>>;
