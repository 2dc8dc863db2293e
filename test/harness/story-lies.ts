import {
  batchItem,
  hashOf,
  isRanked,
  type Item,
  type ListName,
  nextOf,
  noItems,
  type Page,
  type Requested,
} from './kept.ts';
import type { Chance } from './random.ts';
import { scrambled, type Truth } from './story-world.ts';

/** Items of a page, whatever is requested. */
export const pageSize = 10;

/** What a lie can be made of. */
export interface Scene {
  readonly request: Requested;
  /** What an honest service would answer. */
  readonly honest: Page;
  /** What it would answer to any other request now. */
  readonly honestly: (request: Requested) => Page;
  /** Pages of the same list that were requested before this one, the latest first. */
  readonly before: readonly Requested[];
  readonly chance: Chance;
}

/** A false answer; `owed` is what the next request for another page is answered with. */
interface Spoilt {
  readonly page: Page;
  readonly owed?: { readonly request: Requested; readonly page: Page };
}

export interface Lie {
  readonly name: string;
  readonly lists: readonly ListName[];
  /** Whether a reader could find it: by the answers, what is stored, or asking once more. */
  readonly findable: boolean;
  /** Whether the same request is answered so for as long as the round lasts. */
  readonly isRepeated: boolean;
  /** Null where this page gives no room for it. */
  spoil(scene: Scene): Spoilt | null;
}

type Manner = Partial<Pick<Lie, 'findable' | 'isRepeated'>>;

const newestFirst: readonly ListName[] = ['operations', 'bundles'];
const positions: readonly ListName[] = [...newestFirst, 'ranking', 'bundlers', 'paymasters'];
const all: readonly ListName[] = [...positions, 'batch'];
const repeated = { isRepeated: true } as const;
const unfindable = { findable: false } as const;

const lie = (
  name: string,
  lists: readonly ListName[],
  spoil: (scene: Scene) => Spoilt | null,
  manner: Manner = {},
): Lie => ({ name, lists, findable: true, isRepeated: false, ...manner, spoil });

/** Another page in place of the honest one. */
const other = (
  name: string,
  lists: readonly ListName[],
  pageOf: (scene: Scene) => Page | null,
  manner: Manner = {},
): Lie =>
  lie(
    name,
    lists,
    (scene) => {
      const page = pageOf(scene);
      return page === null ? null : { page };
    },
    manner,
  );

/** Other items on a page whose cursor is true. */
const ofItems = (
  name: string,
  lists: readonly ListName[],
  itemsOf: (scene: Scene) => readonly Item[] | null,
  manner: Manner = {},
): Lie =>
  other(
    name,
    lists,
    (scene) => {
      const items = itemsOf(scene);
      return items === null ? null : { ...scene.honest, items };
    },
    manner,
  );

/** Other fields in some items, by their places. */
const changed = (items: readonly Item[], places: readonly number[], fields: Item) =>
  items.map((item, at) => (places.includes(at) ? { ...item, ...fields } : item));

const hasNext = ({ next_page_params: next }: Page) => next !== null && next !== undefined;

/** An end of a list that goes on. */
const falseEnd = (name: string, end: (items: readonly Item[]) => Page): Lie =>
  other(name, all, ({ honest }) => (hasNext(honest) ? end(honest.items) : null));

/** An empty answer where there are items, to a first page or to another. */
const empty = (name: string, lists: readonly ListName[], isHead: boolean, manner: Manner = {}) =>
  other(
    name,
    lists,
    ({ request: { cursor }, honest: { items } }) =>
      (cursor === null) !== isHead || items.length === 0 ? null : noItems,
    manner,
  );

const ends: readonly Lie[] = [
  empty('end-empty', all, false),
  falseEnd('end-short', (items) => ({
    items: items.slice(0, Math.ceil(items.length / 2)),
    next_page_params: null,
  })),
  falseEnd('end-full', (items) => ({ items, next_page_params: null })),
  falseEnd('end-missing', (items) => ({ items })),
  empty('first-empty', all, true),
  ofItems('empty-goes-on', all, ({ honest }) => (hasNext(honest) ? [] : null)),
];

/** The field that orders a list. */
const orderField: Readonly<Record<ListName, string>> = {
  operations: 'block_number',
  bundles: 'block_number',
  batch: 'height',
  ranking: 'total_accounts',
  bundlers: 'total_ops',
  paymasters: 'total_ops',
  listed: 'number',
};

const numberOf = (item: Item | undefined, { list }: Requested) => Number(item?.[orderField[list]]);

/** Says another number of some items, where there are as many. */
const misnumber = (
  name: string,
  lists: readonly ListName[],
  which: (scene: Scene) => { readonly places: readonly number[]; readonly to: number } | null,
): Lie =>
  ofItems(name, lists, (scene) => {
    const { honest, request } = scene;
    const chosen = which(scene);
    if (chosen === null || honest.items.length < 4) return null;
    const value = newestFirst.includes(request.list) ? String(chosen.to) : chosen.to;
    return changed(honest.items, chosen.places, { [orderField[request.list]]: value });
  });

/** Lower than anything is, and higher than anything will be. */
const tooLow = ({ list }: Requested) => (isRanked(list) ? 0 : 5);
const tooHigh = 999_999_999_999;

/** The first item of the page that follows, which a page's last item is above. */
function itemBelow({ request, honest, honestly }: Scene): Item | undefined {
  const next = nextOf(request, honest);
  return next === null ? undefined : honestly(next).items[0];
}

/** The highest count of a ranking is like any other: that it is wrong shows on later pages only. */
const mayBeHigh = ({ request: { list, cursor } }: Scene) => !isRanked(list) || cursor !== null;

const edges: readonly Lie[] = [
  misnumber('edge-low', all, ({ honest, request }) =>
    hasNext(honest) ? { places: [honest.items.length - 1], to: tooLow(request) } : null,
  ),
  misnumber('edge-slightly-low', positions, (scene) => {
    const below = itemBelow(scene);
    const to = numberOf(below, scene.request) - scene.chance.whole(1, 3);
    return below === undefined || to < 0 ? null : { places: [scene.honest.items.length - 1], to };
  }),
  misnumber('edge-high', all, (scene) => (mayBeHigh(scene) ? { places: [0], to: tooHigh } : null)),
  misnumber('edge-two-low', newestFirst, ({ honest: { items }, honest }) =>
    hasNext(honest) ? { places: [items.length - 2, items.length - 1], to: 5 } : null,
  ),
  misnumber('edge-two-high', newestFirst, () => ({ places: [0, 1], to: tooHigh })),
  ofItems('number-missing', [...newestFirst, 'batch'], ({ request, honest: { items }, chance }) => {
    if (items.length === 0) return null;
    const place = chance.whole(0, items.length - 1);
    return changed(items, [place], { [orderField[request.list]]: null });
  }),
];

const order: readonly Lie[] = [
  ofItems('swapped-items', all, ({ request, honest: { items }, chance }) => {
    if (items.length < 2) return null;
    const place = chance.whole(0, items.length - 2);
    const [one, next] = [items[place], items[place + 1]];
    if (one === undefined || next === undefined) return null;
    // Among equals there is nothing to see, and nothing wrong.
    if (numberOf(one, request) === numberOf(next, request)) return null;
    return items.with(place, next).with(place + 1, one);
  }),
  lie('swapped-pages', all, ({ request, honest, honestly }) => {
    const next = nextOf(request, honest);
    if (next === null) return null;
    const below = honestly(next);
    const owed = { request: next, page: { ...below, items: honest.items } };
    return { page: { ...honest, items: below.items }, owed };
  }),
  ofItems('old-page', all, ({ honestly, before: [old] }) =>
    old === undefined ? null : honestly(old).items,
  ),
  other('old-page-and-cursor', all, ({ honestly, before, chance }) =>
    before.length === 0 ? null : honestly(chance.pick(before)),
  ),
];

/** Says something else of the block below, of one item. */
const unlink = (name: string, parent: string | null): Lie =>
  ofItems(name, ['batch'], ({ honest: { items }, chance }) =>
    items.length === 0
      ? null
      : changed(items, [chance.whole(0, items.length - 1)], { parent_hash: parent }),
  );

const drop = (lists: readonly ListName[], name: string, manner: Manner = {}): Lie =>
  ofItems(
    name,
    lists,
    ({ honest: { items }, chance }) =>
      items.length < 3 ? null : items.toSpliced(chance.whole(1, items.length - 2), 1),
    manner,
  );

const losses: readonly Lie[] = [
  unlink('parent-missing', null),
  unlink('parent-wrong', `0x${'e'.repeat(64)}`),
  drop(['batch'], 'dropped-block'),
  drop(positions, 'dropped', unfindable),
  other(
    'skipped-page',
    positions,
    ({ request, honest, honestly }) => {
      const next = nextOf(request, honest);
      return next === null ? null : honestly(next);
    },
    unfindable,
  ),
];

const past = '1970-01-01T00:00:00.000000Z';
const future = '2099-01-01T00:00:00.000000Z';

/**
 * Reports another time of so many neighbours, where there are as many: somewhere on the page, or at its end,
 * where a walk looks for its bound. What wrong times bound is lost.
 */
const mistime = (name: string, timestamp: string, count: number): Lie =>
  ofItems(name, newestFirst, ({ honest: { items }, chance }) => {
    const { length } = items;
    const from =
      count === Infinity || chance.percent(50)
        ? Math.max(0, length - count)
        : chance.whole(0, length - count);
    if (length < 3) return null;
    return items.map((item, at) =>
      at >= from && at < from + count ? { ...item, timestamp } : item,
    );
  });

const times: readonly Lie[] = [
  mistime('time-past', past, 1),
  mistime('time-future', future, 1),
  mistime('times-two-past', past, 2),
  mistime('times-two-future', future, 2),
  mistime('times-page-past', past, Infinity),
];

/** Above every id of the world. */
const foreignIds = 2 ** 40;

/** Another chain's items at the same blocks. */
const foreign = (name: string, isHead: boolean, manner: Manner = {}): Lie =>
  ofItems(
    name,
    newestFirst,
    ({ request: { list, cursor }, honest: { items } }) =>
      items.length === 0 || (cursor === null) !== isHead
        ? null
        : items.map((item, place) => ({
            ...item,
            [list === 'operations' ? 'hash' : 'transaction_hash']: hashOf(
              foreignIds + scrambled(Number(item['block_number']) * 100 + place),
            ),
          })),
    manner,
  );

/** The name of the lie of a whole story: `cutOff` says what the service lists then. */
export const cutWhileAgain = 'end-insists';

/** Lies about which pages are, and those that stay for a round, however often they are requested. */
const standing: readonly Lie[] = [
  foreign('foreign-page', false),
  // A first page names none that has to be on it.
  foreign('foreign-head', true, unfindable),
  empty('end-empty-repeated', newestFirst, false, repeated),
  other('field-missing-repeated', all, ({ honest: { items } }) => ({ items }), repeated),
  lie(cutWhileAgain, ['operations'], () => null),
];

/**
 * A list of operations that ends for a while at 40 % of what is wanted of it. Null if no more than a page
 * is below: a reader believes such an end when it is repeated.
 */
export function cutOff(truth: Truth, lowestWanted: number): Truth | null {
  // In the order of the list: a cut within a block would leave a gap above the end.
  const newest = truth.operations
    .filter(({ block }) => block >= lowestWanted)
    .sort((a, b) => b.block - a.block || b.id - a.id);
  const kept = newest.slice(0, Math.ceil(newest.length * 0.4));
  if (newest.length - kept.length <= pageSize) return null;
  return { ...truth, operations: kept };
}

const listed: readonly Lie[] = [
  // Ordinary: the list of batches has a batch before the service has its blocks.
  ofItems('without-blocks', ['listed'], ({ request, honest: { items }, chance }) => {
    const newest = Number(items[0]?.['number'] ?? 0);
    if (request.cursor !== null || newest === 0) return null;
    const early = Array.from({ length: chance.whole(1, 5) }, (_, place) =>
      batchItem({ number: newest + 1 + place, blocks: [1, 2] }),
    );
    return [...early.toReversed(), ...items];
  }),
];

/** Every lie by its name; docs/guarantees.md names those that no reader can detect. */
const lies = [ends, edges, order, losses, times, standing, listed].flat();

/** A lie as it is played on one list. */
export interface ListLie {
  readonly name: string;
  readonly list: ListName;
  readonly lie: Lie;
}

const listLies: readonly ListLie[] = lies.flatMap((each) =>
  each.lists.map((list) => ({ name: `${list}/${each.name}`, list, lie: each })),
);

/**
 * The lies of a name: `batch/end-empty` is one, `end-empty` that of all lists, `batch` all that can
 * be found of one list, `none` none. Without a name all that can be found.
 */
export function chosenLies(name: string | null): readonly ListLie[] {
  if (name === 'none') return [];
  const chosen = listLies.filter(
    ({ name: own, list, lie: each }) =>
      (name === null && each.findable) ||
      own === name ||
      each.name === name ||
      (list === name && each.findable),
  );
  if (chosen.length === 0) {
    throw new Error(
      `no lie is called ${name}; there are ${listLies.map((l) => l.name).join(', ')}`,
    );
  }
  return chosen;
}
