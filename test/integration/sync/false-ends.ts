import { expect } from 'vitest';
import { noItems, oneEach, type PageLie } from '../../harness/kept.ts';
import { forTheEnd, lyingList, pageSize } from './lying-list.ts';

export const pages = 12;
export const rows = pages * pageSize;
export const shortList = () => lyingList(oneEach(1, rows));

/** A false answer that comes once is requested once more. */
const forTheLie = 1;

const emptyGoesOn: PageLie = (page) => ({ ...page, items: [] });

/** Each way to end a list that goes on, and an empty page in its middle. */
const ends: readonly (readonly [string, PageLie])[] = [
  ['ends the list with an empty page', () => noItems],
  [
    'ends the list with half a page',
    ({ items }) => ({ items: items.slice(0, pageSize / 2), next_page_params: null }),
  ],
  ['ends the list with a full page', ({ items }) => ({ items, next_page_params: null })],
  ['has no field next_page_params', ({ items }) => ({ items })],
  ['is empty, but goes on', emptyGoesOn],
];

/** Each end on one of these pages. */
export const endsOn = (nths: readonly number[]) =>
  ends.map(([what, end], at) => [nths[at % nths.length] ?? 1, what, end] as const);

/** An empty first page is checked by two requests from above it. */
const forAnEmptyHead = 2;

/** A false end of history, once: it is requested once more, and history is read to its true end. */
export async function expectWholeHistory(nth: number, end: PageLie): Promise<void> {
  const { list, sync, expectComplete } = await shortList();
  list.lieOnce(nth, end);
  const isEmptyHead = nth === 1 && end === emptyGoesOn;

  const requests = await sync();

  await expectComplete();
  const forTheCheck = isEmptyHead ? forAnEmptyHead : forTheLie;
  expect(requests).toBeLessThanOrEqual(pages + forTheCheck + forTheEnd);
}

/** A false end of a live poll, once, above stored operations: what was not read is a gap, until it is. */
export async function expectOnlyRead(nth: number, end: PageLie): Promise<void> {
  const [newPages, overlapPages] = [4, 2];
  const { list, sync, expectComplete, expectNothingHidden } = await shortList();
  // The others are a gap.
  await sync({ maxPages: 8 });
  list.operations.push(...oneEach(rows + 1, rows + newPages * pageSize));
  list.lieOnce(nth, end);

  const most = newPages + overlapPages + 1;
  expect(await sync({ maxPages: most })).toBeLessThanOrEqual(2 * most + forTheLie);

  await expectNothingHidden();
  await sync();
  await expectComplete();
}
