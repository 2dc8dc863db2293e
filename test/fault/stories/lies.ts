import type { Item, Page } from '../../../simulator/index.ts';
import { type OperationName, operationNames, operations } from '../../../src/lists/registry.ts';
import {
  addressOf,
  batchItem,
  blockItem,
  hashOf,
  isNewest,
  noItems,
  range,
} from '../../harness/kept.ts';
import {
  all,
  changed,
  changedOne,
  type Falsify,
  hasNext,
  isRanked,
  liesOf,
  type ListLie,
  type ListScene,
  newestFirst,
  nextOf,
  numbered,
  pageSize,
  positions,
  type Scene,
  unfindable,
} from './lie.ts';
import { scrambled, type Truth } from './world.ts';

/** Of a list that goes on. */
const beforeTheEnd =
  (falsify: (items: readonly Item[]) => readonly Item[] | Page): Falsify =>
  ({ honest }) =>
    hasNext(honest) ? falsify(honest.items) : null;

/** An empty answer where there are items, to a first page or to another. */
const empty =
  (isHead: boolean): Falsify =>
  ({ request: { cursor }, honest: { items } }) =>
    (cursor === null) !== isHead || items.length === 0 ? null : noItems;

const half = (items: readonly Item[]) => items.slice(0, Math.ceil(items.length / 2));

const ends = liesOf(all, {
  'end-empty': empty(false),
  'end-short': beforeTheEnd((items) => ({ items: half(items), next_page_params: null })),
  'end-full': beforeTheEnd((items) => ({ items, next_page_params: null })),
  'end-missing': beforeTheEnd((items) => ({ items })),
  'end-one': beforeTheEnd((items) => ({ items: items.slice(0, 1), next_page_params: null })),
  'first-empty': empty(true),
  'empty-goes-on': beforeTheEnd(() => []),
});

/** The field that orders a list. */
function orderField(list: OperationName): string {
  const declared = operations[list];
  return 'ranking' in declared ? declared.ranking.total : (declared.order.fields.height[0] ?? '');
}

export const numberOf = (item: Item | undefined, list: OperationName) =>
  Number(item?.[orderField(list)]);

/** Lower than anything is, and higher than anything will be. */
const tooLow = ({ list }: ListScene) => (isRanked(list) ? 0 : 5);
const tooHigh = 999_999_999_999;

/** Says another number of some items, where there are as many; -1 is the last one. */
const misnumber =
  (places: readonly number[], numberFor: (scene: ListScene) => number | null): Falsify =>
  (scene) => {
    const { list, honest } = scene;
    const { items } = honest;
    const number = numberFor(scene);
    if (number === null || items.length < 4) return null;
    const value = isNewest(list) ? String(number) : number;
    const from0 = places.map((place) => (place < 0 ? items.length + place : place));
    return changed(items, from0, { [orderField(list)]: value });
  };

/** Says of the last items of a page that goes on that they are below all others. */
const lowEdge = (...places: readonly number[]) =>
  misnumber(places, (scene) => (hasNext(scene.honest) ? tooLow(scene) : null));

/** A little below the first item of the page that follows, which a page's last item is above. */
function slightlyLow(scene: ListScene): number | null {
  const next = nextOf(scene);
  const below = next === null ? undefined : scene.request.pageAt(next).items[0];
  const number = numberOf(below, scene.list) - scene.chance.whole(1, 3);
  return below === undefined || number < 0 ? null : number;
}

/** The highest count of a ranking is like any other: that it is wrong shows on later pages only. */
const mayBeHigh = ({ list, request: { cursor } }: ListScene) => !isRanked(list) || cursor !== null;

const edges = [
  ...liesOf(all, {
    'edge-low': lowEdge(-1),
    'edge-high': misnumber([0], (scene) => (mayBeHigh(scene) ? tooHigh : null)),
  }),
  ...liesOf(positions, { 'edge-slightly-low': misnumber([-1], slightlyLow) }),
  ...liesOf(newestFirst, {
    'edge-two-low': lowEdge(-2, -1),
    'edge-two-high': misnumber([0, 1], () => tooHigh),
  }),
  ...liesOf(newestFirst, {
    // A first page has no cursor that would contradict it. One that is too low twice may have moved.
    'page-one-high': ({ list, request: { cursor }, honest: { items } }) =>
      cursor === null || items.length === 0
        ? null
        : items.map((item) => ({ ...item, [orderField(list)]: String(numberOf(item, list) + 1) })),
    // As if the item were on the page before, or at its border.
    'middle-high': misnumber([2], (scene) => {
      const number = numberOf(scene.honest.items[0], scene.list) + scene.chance.whole(1, 3);
      return scene.request.cursor === null ? null : number;
    }),
    'key-missing': (scene) =>
      changedOne(scene, { [operations[scene.list].order?.key[0]?.names[0] ?? '']: null }),
  }),
  ...liesOf([...newestFirst, ...numbered], {
    'number-missing': (scene) => changedOne(scene, { [orderField(scene.list)]: null }),
  }),
];

const order = liesOf(all, {
  'swapped-items': ({ list, honest: { items }, chance }) => {
    if (items.length < 2) return null;
    const place = chance.whole(0, items.length - 2);
    const [one, next] = [items[place], items[place + 1]];
    if (one === undefined || next === undefined) return null;
    // Among equals there is nothing to see, and nothing wrong.
    if (numberOf(one, list) === numberOf(next, list)) return null;
    return items.with(place, next).with(place + 1, one);
  },
  'swapped-pages': (scene) => {
    const { request, honest } = scene;
    const next = nextOf(scene);
    if (next === null) return null;
    const below = request.pageAt(next);
    const owed = { cursor: next, page: { ...below, items: honest.items } };
    return { page: { ...honest, items: below.items }, owed };
  },
  // They say nothing, and are alike.
  'blank-items': ({ honest: { items }, chance }) => {
    if (items.length < 3) return null;
    const places = new Set([0, 1].map(() => chance.whole(0, items.length - 1)));
    return items.map((item, at) => (places.has(at) ? {} : item));
  },
  reversed: ({ honest: { items } }) => (items.length < 4 ? null : items.toReversed()),
  'old-page': ({ request, honest, before: [old] }) => {
    if (old === undefined) return null;
    const { items } = request.pageAt(old);
    // One that overlaps the true page leaves some items out, and shows nothing that is wrong.
    const own = new Set(honest.items.map((item) => JSON.stringify(item)));
    return items.some((item) => own.has(JSON.stringify(item))) ? null : items;
  },
  'old-page-and-cursor': ({ request, before, chance }) =>
    before.length === 0 ? null : request.pageAt(chance.pick(before)),
});

/** A true page whose cursor is another one's. */
const withCursor = ({ request: { cursorName }, honest }: Scene, cursor: string): Page => ({
  ...honest,
  next_page_params: { [cursorName]: cursor },
});

const cursors = liesOf(all, {
  'cursor-back': (scene) => {
    const read = scene.before.filter((cursor) => cursor !== null);
    if (!hasNext(scene.honest) || read.length === 0) return null;
    return withCursor(scene, scene.chance.pick(read));
  },
});

const dropOne: Falsify = ({ honest: { items }, chance }) =>
  items.length < 3 ? null : items.toSpliced(chance.whole(1, items.length - 2), 1);

function skipPage(scene: Scene): Page | null {
  const next = nextOf(scene);
  return next === null ? null : scene.request.pageAt(next);
}

const losses = [
  ...liesOf(numbered, {
    'parent-missing': (scene) => changedOne(scene, { parent_hash: null }),
    'parent-wrong': (scene) => changedOne(scene, { parent_hash: `0x${'e'.repeat(64)}` }),
    'dropped-block': dropOne,
    // Under a number without a batch they are linked to both neighbours.
    'neighbour-blocks': ({ request: { cursor, batch, firstPageOf }, chance }) => {
      if (cursor !== null || batch === null) return null;
      const { items, ...page } = firstPageOf(batch + chance.pick([-1, 1]));
      return items.length === 0 ? null : { ...page, items };
    },
    // Below all others, on a number that has none; far above, hundreds would be read in vain.
    'blocks-invented': ({ request: { cursor, batch }, honest: { items }, chance }) => {
      if (cursor !== null || items.length > 0 || Number(batch) > 12) return null;
      const lowest = chance.whole(1, 1_000);
      return range(lowest, lowest + chance.whole(0, 8))
        .map((height) => blockItem({ height }))
        .toReversed();
    },
  }),
  ...liesOf(positions, { dropped: dropOne, 'skipped-page': skipPage }, unfindable),
];

const past = '1970-01-01T00:00:00.000000Z';
const future = '2099-01-01T00:00:00.000000Z';

/**
 * Reports another time of so many neighbours, where there are as many: somewhere on the page, or at its end,
 * where a walk looks for its bound. What wrong times bound is lost.
 */
const mistime =
  (timestamp: string, count: number): Falsify =>
  ({ honest: { items }, chance }) => {
    const { length } = items;
    const from =
      count === Infinity || chance.percent(50)
        ? Math.max(0, length - count)
        : chance.whole(0, length - count);
    if (length < 3) return null;
    return items.map((item, at) =>
      at >= from && at < from + count ? { ...item, timestamp } : item,
    );
  };

const times = liesOf(newestFirst, {
  'time-past': mistime(past, 1),
  'time-future': mistime(future, 1),
  'times-two-past': mistime(past, 2),
  'times-two-future': mistime(future, 2),
  'times-page-past': mistime(past, Infinity),
});

/** Above every id of the world. */
const foreignIds = 2 ** 40;

/** Items of one of two other chains at the same blocks. */
const foreign =
  (isHead: boolean): Falsify =>
  ({ list, request: { cursor }, honest: { items }, chance }) => {
    if (items.length === 0 || (cursor === null) !== isHead) return null;
    const field = operations[list].order?.key[0]?.names[0] ?? '';
    const first = foreignIds * chance.whole(1, 2);
    return items.map((item, place) => {
      const id = first + scrambled(Number(item['block_number']) * 100 + place);
      return { ...item, [field]: hashOf(id) };
    });
  };

/** Another chain's factories, with the same counts. */
const foreignRanked: Falsify = ({ request: { cursor }, honest: { items }, chance }) => {
  if (items.length === 0 || cursor === null) return null;
  const first = foreignIds + chance.whole(0, 1_000_000) * 100;
  return items.map((item, place) => ({ ...item, address: addressOf(first + place) }));
};

/** The name of the lie of a whole story: `cutOff` says what the service lists then. */
export const cutWhileAgain = 'end-insists';

/** Leads on below a first page that is left out. */
const emptyHead: Falsify = ({ request: { cursor }, honest }) =>
  cursor === null && hasNext(honest) ? [] : null;

/** Lies about which pages are, and those that stay for a round, however often they are requested. */
const standing = [
  ...liesOf(newestFirst, {
    'foreign-page': foreign(false),
    'foreign-unreadable': (scene) => {
      const items = foreign(false)(scene) as readonly Item[] | null;
      const fields = { [operations[scene.list].order?.key[0]?.names[0] ?? '']: null };
      return items === null
        ? null
        : changed(items, [scene.chance.whole(0, items.length - 1)], fields);
    },
  }),
  ...liesOf(operationNames.filter(isRanked), { 'foreign-page': foreignRanked }),
  // A first page names none that has to be on it.
  ...liesOf(newestFirst, { 'foreign-head': foreign(true) }, unfindable),
  ...liesOf(newestFirst, { 'end-empty-repeated': empty(false) }, { isRepeated: true }),
  ...liesOf(newestFirst, { 'empty-head-repeated': emptyHead }, { isRepeated: true }),
  ...liesOf(
    all,
    { 'field-missing-repeated': ({ honest: { items } }) => ({ items }) },
    { isRepeated: true },
  ),
  ...liesOf(['user-operations'], { [cutWhileAgain]: () => null }),
];

/**
 * Hashes of a list of operations that ends for a while at 40 % of what is wanted of it. Null if no more than
 * a page is below: a reader believes such an end when it is repeated.
 */
export function cutOff(truth: Truth, lowestWanted: number): ReadonlySet<unknown> | null {
  // In the order of the list: a cut within a block would leave a gap above the end.
  const newest = truth.operations
    .filter(({ block }) => block >= lowestWanted)
    .sort((a, b) => b.block - a.block || b.id - a.id);
  const kept = newest.slice(0, Math.ceil(newest.length * 0.4));
  if (newest.length - kept.length <= pageSize) return null;
  return new Set(kept.map(({ id }) => hashOf(id)));
}

const listed = liesOf(['optimism-batches'], {
  // Ordinary: the list of batches has a batch before the service has its blocks.
  'without-blocks': ({ request, honest: { items }, chance }) => {
    const newest = Number(items[0]?.['number'] ?? 0);
    if (request.cursor !== null || newest === 0) return null;
    const early = Array.from({ length: chance.whole(1, 5) }, (_, place) =>
      batchItem({ number: newest + 1 + place, blocks: [1, 2] }),
    );
    return [...early.toReversed(), ...items];
  },
  // Ordinary: the last numbers of the page before are listed once more.
  'repeated-before': ({ request: { cursor, pageAt }, honest: { items }, chance }) => {
    if (cursor === null) return null;
    const above = pageAt(String(Number(cursor) + 3)).items;
    const repeated = above.filter(({ number }) => Number(number) >= Number(cursor));
    return repeated.length === 0 ? null : [...repeated.slice(-chance.whole(1, 2)), ...items];
  },
  'listed-far': ({ request, honest: { items }, chance }) =>
    request.cursor !== null || items.length === 0
      ? null
      : [batchItem({ number: chance.whole(1_000, 999_999), blocks: [1, 2] }), ...items],
});

/** What is below a plot's place is not listed, wherever it is requested: the list ends there for a while. */
export const cuts = liesOf(all, {
  cut: (scene) => {
    const { list, request, honest, bottom } = scene;
    if (bottom === undefined || honest.items.length === 0) return null;
    const items = honest.items.filter((item) => numberOf(item, list) >= bottom);
    const next = nextOf(scene);
    const [below] = next === null ? [] : request.pageAt(next).items;
    const goesOn = below !== undefined && numberOf(below, list) >= bottom;
    return goesOn ? null : { items, next_page_params: null };
  },
});

/** Every lie by its name; docs/guarantees.md names those that no reader can detect. */
export const lies = [ends, edges, order, cursors, losses, times, standing, listed].flat();

/**
 * The lies of a name: `bundles/end-empty` is one, `end-empty` that of all lists, `bundles` all that can
 * be found of one list, `none` none. Without a name all that can be found.
 */
export function chosenLies(name: string | null): readonly ListLie[] {
  if (name === 'none') return [];
  const chosen = lies.filter(
    (each) =>
      each.name === name ||
      each.lie === name ||
      (each.findable && (name === null || each.list === name)),
  );
  if (chosen.length === 0) {
    throw new Error(`no lie is called ${name}; there are ${lies.map((l) => l.name).join(', ')}`);
  }
  return chosen;
}
