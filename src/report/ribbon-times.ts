import type { Database } from '../db/transaction.ts';
import type { ListRibbon, RibbonFeed, RibbonWindow } from '../lists/ribbon.ts';

/** A number of a list whose time is known, in ms since 1970. */
export interface TimedNumber {
  readonly height: number;
  readonly at: number;
}

/** The highest number at or below one whose time is stored: one look into an index. */
export async function timeBelow(
  db: Database,
  feed: RibbonFeed,
  list: ListRibbon,
  height: number,
): Promise<TimedNumber | null> {
  const { rows } = await db.execute<{ height: string; at: string | null }>(
    list.timeBelow(feed, height),
  );
  const [row] = rows;
  return row === undefined || row.at === null
    ? null
    : { height: Number(row.height), at: Number(row.at) };
}

/** Numbers are nearly even in time: a guess by proportion needs a few steps, halving at most as many as here. */
const mostSteps = 24;

/**
 * The part of an extent that is so long in time, up to its end. Where times are not known, all of it.
 */
export async function newestWindow(
  db: Database,
  feed: RibbonFeed,
  list: ListRibbon,
  { extent, spanMs }: { readonly extent: RibbonWindow; readonly spanMs: number },
): Promise<RibbonWindow> {
  const top = await timeBelow(db, feed, list, extent.to);
  if (top === null) return extent;
  const wanted = top.at - spanMs;
  let [low, high] = [extent.from, extent.to];
  for (let step = 0; step < mostSteps && high - low > 1; step += 1) {
    const middle = Math.floor((low + high) / 2);
    const found = await timeBelow(db, feed, list, middle);
    // What lies between the two has no time of its own.
    if (found === null || found.at < wanted) low = middle;
    else high = Math.max(low, Math.min(middle, found.height));
  }
  return { from: Math.min(high, extent.to), to: extent.to };
}
