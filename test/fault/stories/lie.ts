import type { Item, Page } from '../../../simulator/index.ts';
import { type OperationName, operationNames, operations } from '../../../src/lists/registry.ts';
import { type Answering, isNewest, type Requested } from '../../harness/kept.ts';
import type { Chance } from './world.ts';

/** Items of a page, whatever is requested. */
export const pageSize = 10;

/** What a lie can be made of. */
export interface Scene {
  readonly request: Answering;
  /** What an honest service would answer. */
  readonly honest: Page;
  /** Cursors of the same list that were requested before this one, the latest first. */
  readonly before: readonly Requested['cursor'][];
  readonly chance: Chance;
  /** Of a lie that is part of a plot: the lowest number at the plot's place. */
  readonly bottom?: number;
}

export interface ListScene extends Scene {
  readonly list: OperationName;
}

/** A false page; `owed` is what the next request for another page is answered with. */
interface Spoilt {
  readonly page: Page;
  readonly owed?: { readonly cursor: string; readonly page: Page };
}

/** What is said falsely: other items on a page whose cursor is true, another page, or also something later. */
export type Falsify = (scene: ListScene) => readonly Item[] | Page | Spoilt | null;

export interface Manner {
  /** Whether a reader could find it: by the answers, what is stored, or one more request. */
  readonly findable?: boolean;
  /** Whether the same request is answered so for as long as the round lasts. */
  readonly isRepeated?: boolean;
}

/** A lie as it is played on one list. */
export interface ListLie extends Required<Manner> {
  /** `list/lie`. */
  readonly name: string;
  readonly lie: string;
  readonly list: OperationName;
  /** Null where this page gives no room for it. */
  readonly spoil: (scene: Scene) => Spoilt | null;
}

/** The cursor of the page that follows; null at the list's end. */
export function nextOf({ request, honest: { next_page_params: next } }: Scene): string | null {
  return next === null || next === undefined ? null : String(next[request.cursorName]);
}

export const isRanked = (list: OperationName) => operations[list].kind === 'ranked';

export const newestFirst = operationNames.filter(isNewest);
export const positions = operationNames.filter((list) => isNewest(list) || isRanked(list));
export const numbered = operationNames.filter((list) => operations[list].kind === 'numbered');
export const all = [...positions, ...numbered];
export const unfindable: Manner = { findable: false };

/** Lies by their names, each on these lists. */
export const liesOf = (
  lists: readonly OperationName[],
  lies: Readonly<Record<string, Falsify>>,
  manner: Manner = {},
): readonly ListLie[] =>
  Object.entries(lies).flatMap(([lie, falsify]) => {
    const spoil = (scene: ListScene): Spoilt | null => {
      const said = falsify(scene);
      if (said === null || 'page' in said) return said;
      return { page: 'items' in said ? said : { ...scene.honest, items: said } };
    };
    const own = { lie, findable: true, isRepeated: false, ...manner };
    return lists.map((list) => {
      const spoilList = (scene: Scene) => spoil({ ...scene, list });
      return { ...own, list, name: `${list}/${lie}`, spoil: spoilList };
    });
  });

/** Other fields in some items, by their places. */
export const changed = (items: readonly Item[], places: readonly number[], fields: Item) =>
  items.map((item, at) => (places.includes(at) ? { ...item, ...fields } : item));

/** The same of one item, drawn among all. */
export const changedOne = ({ honest: { items }, chance }: Scene, fields: Item) =>
  items.length === 0 ? null : changed(items, [chance.whole(0, items.length - 1)], fields);

export const hasNext = ({ next_page_params: next }: Page) => next !== null && next !== undefined;
