import type { World } from './chain.ts';
import { Random } from './random.ts';

/** Every how many pages each oddity shows. */
const withinEvery = 7;
const beforeEvery = 5;
const emptyEvery = 9;

/** What is odd about the page that begins at a position; the same at every reading. */
export interface PageEvents {
  /** One item comes twice: which, as a number to be taken modulo the items. */
  readonly copyWithin: number | null;
  /** The last item of the page before comes again as the first. */
  readonly repeatsBefore: boolean;
  /** An empty page comes first, whose cursor leads on. */
  readonly emptyFirst: boolean;
}

/** The events of the page whose first item has this index in its list. */
export function pageEventsAt(world: World, index: number): PageEvents {
  const random = new Random(world.streams.page, index);
  const isWithin = random.oneIn(withinEvery);
  const isBefore = random.oneIn(beforeEvery);
  const isEmpty = random.oneIn(emptyEvery);
  const { oddities } = world;
  return {
    copyWithin: oddities.has('duplicates-in-page') && isWithin ? random.next() : null,
    repeatsBefore: oddities.has('duplicates-across-pages') && isBefore,
    emptyFirst: oddities.has('empty-page-with-cursor') && isEmpty,
  };
}

/**
 * The items of a page with its copies. An item that cannot be a row is never copied, so that the
 * number of those handed out stays known.
 */
export function addCopies<Item extends { readonly lacksHash: boolean }>(
  items: readonly Item[],
  before: Item | undefined,
  events: PageEvents,
): Item[] {
  const copied = [...items];
  if (events.copyWithin !== null && items.length > 0) {
    const place = events.copyWithin % items.length;
    const copy = items[place];
    if (copy !== undefined && !copy.lacksHash) copied.splice(place, 0, copy);
  }
  if (events.repeatsBefore && items.length > 0 && before !== undefined && !before.lacksHash) {
    copied.unshift(before);
  }
  return copied;
}

/** A page as the service wraps it; `next` null at the end, `key` the secret key as sent. */
export function wrapPage(
  world: World,
  items: readonly unknown[],
  next: Readonly<Record<string, unknown>> | null,
  key: string | undefined,
): Record<string, unknown> {
  const { oddities } = world;
  if (next !== null) {
    const echoed = oddities.has('echo-key') && key !== undefined ? { key } : {};
    return { items, next_page_params: { ...next, ...echoed } };
  }
  if (oddities.has('end-absent')) return { items };
  return { items, next_page_params: oddities.has('end-empty-object') ? {} : null };
}
