import { sql } from 'drizzle-orm';
import type { Database } from '../db/transaction.ts';
import type { RibbonFeed, RibbonKind } from './ribbon.ts';
import type { RibbonWindow } from './ribbon-state.ts';

/** A number of a list whose time is known, in ms since 1970. */
export interface TimedNumber {
  readonly height: number;
  readonly at: number;
}

/** The highest number at or below one whose time is stored: one look into an index. */
export async function timeBelow(
  db: Database,
  feed: RibbonFeed,
  kind: RibbonKind,
  height: number,
): Promise<TimedNumber | null> {
  const { rows } = await db.execute<{ height: string; at: string | null }>(
    kind === 'numbered' ? batchBelow(feed, height) : itemBelow(feed, height),
  );
  const [row] = rows;
  return row === undefined || row.at === null
    ? null
    : { height: Number(row.height), at: Number(row.at) };
}

const itemBelow = ({ chain_id, operation }: RibbonFeed, height: number) => sql`
  select height, 1000 * extract(epoch from timestamp) as at
  from etl.item_below(${chain_id}, ${operation}, ${height}, 'infinity')
`;

const batchBelow = ({ chain_id }: RibbonFeed, number: number) => sql`
  with batch as (
    select chain_id, batch_number, first_height
    from explorer.read_batches
    where chain_id = ${chain_id} and batch_number <= ${number} and blocks_count > 0
    order by batch_number desc
    limit 1
  )
  select batch_number as height, 1000 * extract(epoch from timestamp) as at
  from batch
  join explorer.blocks
    on blocks.chain_id = batch.chain_id and blocks.height = batch.first_height
  where blocks.chain_id = ${chain_id}
`;

/** Numbers are nearly even in time: a guess by proportion needs a few steps, halving at most as many as here. */
const mostSteps = 24;

/**
 * The part of an extent that is so long in time, up to its end. Where times are not known, all of it.
 */
export async function newestWindow(
  db: Database,
  feed: RibbonFeed,
  kind: RibbonKind,
  { extent, spanMs }: { readonly extent: RibbonWindow; readonly spanMs: number },
): Promise<RibbonWindow> {
  const top = await timeBelow(db, feed, kind, extent.to);
  if (top === null) return extent;
  const wanted = top.at - spanMs;
  let [low, high] = [extent.from, extent.to];
  for (let step = 0; step < mostSteps && high - low > 1; step += 1) {
    const middle = Math.floor((low + high) / 2);
    const found = await timeBelow(db, feed, kind, middle);
    // What lies between the two has no time of its own.
    if (found === null || found.at < wanted) low = middle;
    else high = Math.max(low, Math.min(middle, found.height));
  }
  return { from: Math.min(high, extent.to), to: extent.to };
}
