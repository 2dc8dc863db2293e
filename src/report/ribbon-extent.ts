import type { Database } from '../db/transaction.ts';
import type { ListRibbon, RibbonFeed, RibbonWindow } from '../lists/ribbon.ts';

/** As far as a list is known, and whether its beginning is: null where nothing of it is. */
export interface RibbonExtent extends RibbonWindow {
  /** What lies below: nothing, what nobody wants, or what nobody has seen. */
  readonly below: 'nothing' | 'unwanted' | 'unknown';
}

/** The extent of a feed. */
export async function ribbonExtent(
  db: Database,
  feed: RibbonFeed,
  list: ListRibbon,
): Promise<RibbonExtent | null> {
  const { rows } = await db.execute<{
    low: string | null;
    high: string | null;
    below: RibbonExtent['below'];
  }>(list.extent(feed));
  const [row] = rows;
  if (row === undefined || row.low === null || row.high === null) return null;
  const [from, to] = [Number(row.low), Number(row.high)];
  return to < from ? null : { from, to, below: row.below };
}

/** What is shown of what lies below a list's known part, of the whole bar. */
const stub = 0.05;
const mostUnknown = 0.95;

/**
 * The window of all of a list. What nobody has seen is drawn as long as it is reckoned to be, so that a bar fills
 * up while history is read; where nobody wants what is below, a stub shows that there may be something. Pure.
 *
 * @param share the part that is proved, as status reckons it; null: not known
 */
export function wholeWindow({ from, to, below }: RibbonExtent, share: number | null): RibbonWindow {
  if (below === 'nothing') return { from, to };
  const rest =
    below === 'unknown' && share !== null ? Math.max(stub, Math.min(mostUnknown, 1 - share)) : stub;
  const size = to - from + 1;
  return { from: Math.max(0, from - Math.ceil((size * rest) / (1 - rest))), to };
}
