import { sql } from 'drizzle-orm';
import type { Database } from '../db/transaction.ts';
import type { RibbonFeed, RibbonKind } from './ribbon.ts';
import type { RibbonWindow } from './ribbon-state.ts';

/** As far as a list is known, and whether its beginning is: null where nothing of it is. */
export interface RibbonExtent extends RibbonWindow {
  /** What lies below: nothing, what nobody wants, or what nobody has seen. */
  readonly below: 'nothing' | 'unwanted' | 'unknown';
}

/** The extent of a feed. */
export async function ribbonExtent(
  db: Database,
  feed: RibbonFeed,
  kind: RibbonKind,
): Promise<RibbonExtent | null> {
  const { rows } = await db.execute<{
    low: string | null;
    high: string | null;
    below: RibbonExtent['below'];
  }>(kind === 'numbered' ? batchExtent(feed) : listExtent(feed));
  const [row] = rows;
  if (row === undefined || row.low === null || row.high === null) return null;
  const [from, to] = [Number(row.low), Number(row.high)];
  return to < from ? null : { from, to, below: row.below };
}

/** The highest block is the head's, and no part of what may be proved. */
const listExtent = ({ feed, chain_id, operation }: RibbonFeed) => sql`
  select least(
           (select height from etl.item_above(${chain_id}, ${operation}, 0)),
           nullif(lower(covered), 0),
           highest - 1
         ) as low,
         highest - 1 as high,
         case
           when covered @> 0::bigint then 'nothing'
           when reached_since is not null then 'unwanted'
           else 'unknown'
         end as below
  from etl.feed_coverage
  where feed_coverage.feed = ${feed} and highest is not null
`;

const batchExtent = ({ feed, chain_id }: RibbonFeed) => sql`
  select least(asked.low, batch.low) as low, greatest(asked.high, batch.high) as high,
         case when least(asked.low, batch.low) <= 1 then 'nothing' else 'unwanted' end as below
  from (
    select min(lower(numbers)) as low, max(upper(numbers)) - 1 as high
    from etl.asked_batches where asked_batches.feed = ${feed}
  ) as asked, (
    select min(batch_number) as low, max(batch_number) as high
    from explorer.read_batches where chain_id = ${chain_id}
  ) as batch
`;

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
