import type { Lie } from './lies.ts';
import { pageSize } from './pages.ts';
import { operationHash, type Truth } from './world.ts';

/** Above every id of the world. */
const foreignIds = 5_000_000;

/** Another chain's operations at the same blocks. */
const foreign = (name: string, isHead: boolean): Lie => ({
  name,
  lists: ['operations'],
  // A first page names none that has to be on it.
  findable: !isHead,
  tell({ request, honest }) {
    if (honest.items.length === 0 || (request.cursor === null) !== isHead) return null;
    const items = honest.items.map((item, place) => ({
      ...item,
      hash: operationHash(foreignIds + Number(item['block_number']) * 100 + place),
    }));
    return { page: { ...honest, items } };
  },
});

/** The name of the lie that a story tells as a whole: `cutOff` says what the service lists then. */
export const cutWhileAgain = 'end-insists';

/** Lies about which pages are, and those that stay for a round, however often the service is request. */
export const standingLies: readonly Lie[] = [
  foreign('foreign-page', false),
  foreign('foreign-head', true),
  {
    name: 'end-empty-repeated',
    lists: ['operations'],
    findable: true,
    isRepeated: true,
    tell: ({ request, honest }) =>
      request.cursor === null || honest.items.length === 0
        ? null
        : { page: { items: [], next_page_params: null } },
  },
  {
    name: 'field-missing-repeated',
    lists: ['operations', 'batch', 'ranking'],
    findable: true,
    isRepeated: true,
    tell: ({ honest: { items } }) => ({ page: { items } }),
  },
  { name: cutWhileAgain, lists: ['operations'], findable: true, tell: () => null },
];

/**
 * A list of operations that ends for a while at 40 % of what is wanted of it. Null if no more than a page
 * is below: a reader believes such an end when it is repeated.
 */
export function cutOff(truth: Truth, lowestWanted: number): Truth | null {
  // In the order of the list: a cut within a block would leave a gap above the end.
  const newest = [...truth.operations]
    .filter(([, { block }]) => block >= lowestWanted)
    .sort(
      ([, a], [, b]) => b.block - a.block || (operationHash(a.id) < operationHash(b.id) ? 1 : -1),
    );
  const kept = newest.slice(0, Math.ceil(newest.length * 0.4));
  if (newest.length - kept.length <= pageSize) return null;
  return { ...truth, operations: new Map(kept) };
}
