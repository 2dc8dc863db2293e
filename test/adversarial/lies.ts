import type { Chance } from '../harness/random.ts';
import { listed } from './listed-lies.ts';
import { standingLies } from './standing-lies.ts';
import { times } from './times.ts';
import { nextOf, type Requested, type Item, type ListName, type Page } from './pages.ts';

/** What a lie can be made of. */
export interface Scene {
  readonly request: Requested;
  /** What an honest service would answer. */
  readonly honest: Page;
  /** What it would answer to any other request now. */
  readonly honestly: (request: Requested) => Page;
  /** Pages of the same list that were request before this one, the latest first. */
  readonly before: readonly Requested[];
  readonly chance: Chance;
}

/** A false answer; `owed` is what the next request for another page is answered with. */
interface Told {
  readonly page: Page;
  readonly owed?: { readonly request: Requested; readonly page: Page };
}

export interface Lie {
  readonly name: string;
  readonly lists: readonly ListName[];
  /** Whether a reader could find it: by the answers, what is stored, or asking once more. */
  readonly findable: boolean;
  /** Whether the same request is answered so for as long as the round lasts. */
  readonly isRepeated?: true;
  /** Null where it cannot be told of this page. */
  tell(scene: Scene): Told | null;
}

const all: readonly ListName[] = ['operations', 'batch', 'ranking'];
const positions: readonly ListName[] = ['operations', 'ranking'];
const ended: Page = { items: [], next_page_params: null };

const hasNext = ({ next_page_params: next }: Page) => next !== null && next !== undefined;

/** An end of a list that goes on. */
const falseEnd = (name: string, end: (scene: Scene) => Page | null): Lie => ({
  name,
  lists: all,
  findable: true,
  tell: (scene) => {
    const page = hasNext(scene.honest) ? end(scene) : null;
    return page === null ? null : { page };
  },
});

const ends: readonly Lie[] = [
  {
    name: 'end-empty',
    lists: all,
    findable: true,
    tell: ({ request, honest }) =>
      request.cursor === null || honest.items.length === 0 ? null : { page: ended },
  },
  falseEnd('end-short', ({ honest: { items } }) => ({
    items: items.slice(0, Math.ceil(items.length / 2)),
    next_page_params: null,
  })),
  falseEnd('end-full', ({ honest: { items } }) => ({ items, next_page_params: null })),
  falseEnd('end-missing', ({ honest: { items } }) => ({ items })),
  {
    name: 'first-empty',
    lists: all,
    findable: true,
    tell: ({ request, honest }) =>
      request.cursor !== null || honest.items.length === 0 ? null : { page: ended },
  },
  falseEnd('empty-goes-on', ({ honest }) => ({ ...honest, items: [] })),
];

/** The field that orders a list. */
const orderField: Readonly<Record<ListName, string>> = {
  operations: 'block_number',
  batch: 'height',
  ranking: 'total_accounts',
  listed: 'number',
};

const numberOf = (item: Item | undefined, { list }: Requested) => Number(item?.[orderField[list]]);

function renumbered(
  items: readonly Item[],
  places: readonly number[],
  request: Requested,
  to: number,
) {
  const value = request.list === 'operations' ? String(to) : to;
  return items.map((item, place) =>
    places.includes(place) ? { ...item, [orderField[request.list]]: value } : item,
  );
}

/** Says another number of some items, where there are as many. */
function misnumber(
  name: string,
  lists: readonly ListName[],
  which: (scene: Scene) => { readonly places: readonly number[]; readonly to: number } | null,
): Lie {
  return {
    name,
    lists,
    findable: true,
    tell(scene) {
      const { honest, request } = scene;
      const chosen = which(scene);
      if (chosen === null || honest.items.length < 4) return null;
      const items = renumbered(honest.items, chosen.places, request, chosen.to);
      return { page: { ...honest, items } };
    },
  };
}

/** Lower than anything is. */
const tooLow: Readonly<Record<ListName, number>> = {
  operations: 5,
  batch: 5,
  ranking: 0,
  listed: 0,
};
/** Higher than anything will be. */
const tooHigh = 999_999_999_999;

/** The first item of the page that follows, which a page's last item stands above. */
function itemBelow({ request, honest, honestly }: Scene): Item | undefined {
  const next = nextOf(request, honest);
  return next === null ? undefined : honestly(next).items[0];
}

/** The highest count of a ranking is like any other: that it is wrong shows on later pages only. */
const mayBeHigh = ({ request: { list, cursor } }: Scene) => list !== 'ranking' || cursor !== null;

const edges: readonly Lie[] = [
  misnumber('edge-low', all, ({ honest, request }) =>
    hasNext(honest) ? { places: [honest.items.length - 1], to: tooLow[request.list] } : null,
  ),
  misnumber('edge-slightly-low', positions, (scene) => {
    const below = itemBelow(scene);
    const to = numberOf(below, scene.request) - scene.chance.whole(1, 3);
    return below === undefined || to < 0 ? null : { places: [scene.honest.items.length - 1], to };
  }),
  misnumber('edge-high', all, (scene) => (mayBeHigh(scene) ? { places: [0], to: tooHigh } : null)),
  misnumber('edge-two-low', ['operations'], ({ honest: { items }, honest }) =>
    hasNext(honest) ? { places: [items.length - 2, items.length - 1], to: 5 } : null,
  ),
  misnumber('edge-two-high', ['operations'], () => ({ places: [0, 1], to: tooHigh })),
  {
    name: 'number-missing',
    lists: ['operations', 'batch'],
    findable: true,
    tell({ request, honest, chance }) {
      if (honest.items.length === 0) return null;
      const place = chance.whole(0, honest.items.length - 1);
      const field = orderField[request.list];
      const items = honest.items.map((item, at) =>
        at === place ? { ...item, [field]: null } : item,
      );
      return { page: { ...honest, items } };
    },
  },
];

const order: readonly Lie[] = [
  {
    name: 'swapped-items',
    lists: all,
    findable: true,
    tell({ request, honest: { items, next_page_params: next }, chance }) {
      if (items.length < 2) return null;
      const place = chance.whole(0, items.length - 2);
      const [one, other] = [items[place], items[place + 1]];
      if (one === undefined || other === undefined) return null;
      // Among equals there is nothing to see, and nothing wrong.
      if (numberOf(one, request) === numberOf(other, request)) return null;
      const swapped = items.with(place, other).with(place + 1, one);
      return { page: { items: swapped, ...(next !== undefined && { next_page_params: next }) } };
    },
  },
  {
    name: 'swapped-pages',
    lists: all,
    findable: true,
    tell({ request, honest, honestly }) {
      const next = nextOf(request, honest);
      if (next === null) return null;
      const { items, next_page_params } = honestly(next);
      return {
        page: { ...honest, items },
        owed: {
          request: next,
          page: {
            items: honest.items,
            ...(next_page_params !== undefined && { next_page_params }),
          },
        },
      };
    },
  },
  {
    name: 'old-page',
    lists: all,
    findable: true,
    tell({ honest, honestly, before }) {
      const [old] = before;
      return old === undefined ? null : { page: { ...honest, items: honestly(old).items } };
    },
  },
  {
    name: 'old-page-and-cursor',
    lists: all,
    findable: true,
    tell({ honestly, before, chance }) {
      return before.length === 0 ? null : { page: honestly(chance.pick(before)) };
    },
  },
];

/** Says something else of the block below, of one item. */
const unlink = (name: string, parent: string | null): Lie => ({
  name,
  lists: ['batch'],
  findable: true,
  tell({ honest, chance }) {
    if (honest.items.length === 0) return null;
    const place = chance.whole(0, honest.items.length - 1);
    const items = honest.items.map((item, at) =>
      at === place ? { ...item, parent_hash: parent } : item,
    );
    return { page: { ...honest, items } };
  },
});

const drop = (lists: readonly ListName[], name: string, findable: boolean): Lie => ({
  name,
  lists,
  findable,
  tell({ honest, chance }) {
    if (honest.items.length < 3) return null;
    const items = honest.items.toSpliced(chance.whole(1, honest.items.length - 2), 1);
    return { page: { ...honest, items } };
  },
});

const losses: readonly Lie[] = [
  unlink('parent-missing', null),
  unlink('parent-wrong', `0x${'e'.repeat(64)}`),
  drop(['batch'], 'dropped-block', true),
  drop(positions, 'dropped', false),
  {
    name: 'skipped-page',
    lists: positions,
    findable: false,
    tell({ request, honest, honestly }) {
      const next = nextOf(request, honest);
      return next === null ? null : { page: honestly(next) };
    },
  },
];

/** Every lie by its name; docs/guarantees.md names those that nobody could find. */
const lies = [ends, edges, order, losses, times, standingLies, listed].flat();

/** A lie as it is told of one list. */
export interface ListLie {
  readonly name: string;
  readonly list: ListName;
  readonly lie: Lie;
}

export const listLies: readonly ListLie[] = lies.flatMap((lie) =>
  lie.lists.map((list) => ({ name: `${list}/${lie.name}`, list, lie })),
);

/**
 * The lies of a name: `batch/end-empty` is one, `end-empty` that of all lists, `batch` all that can
 * be found of one list, `none` none. Without a name all that can be found.
 */
export function chosenLies(name: string | null): readonly ListLie[] {
  if (name === 'none') return [];
  const chosen = listLies.filter(
    ({ name: own, list, lie }) =>
      (name === null && lie.findable) ||
      own === name ||
      lie.name === name ||
      (list === name && lie.findable),
  );
  if (chosen.length === 0) {
    throw new Error(
      `no lie is called ${name}; there are ${listLies.map((l) => l.name).join(', ')}`,
    );
  }
  return chosen;
}
