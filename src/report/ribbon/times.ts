import { sql } from 'drizzle-orm';
import type { Database } from '../../db/transaction.ts';
import type { Range } from './ribbon.ts';

/** When a height was, in ms since 1970. */
export interface TimedHeight {
  readonly height: number;
  readonly at: number;
}

/** Places of a window whose times are asked for: between them time is reckoned. */
const samples = 24;

/** What is stored of the times of some windows, by their feeds: few points of each, in order. */
export async function timesWithin(
  db: Database,
  windows: ReadonlyMap<string, Range>,
): Promise<ReadonlyMap<string, readonly TimedHeight[]>> {
  const asked = [...windows].flatMap(([feed, { from, to }]) => {
    const heights = Array.from({ length: samples }, (_, place) =>
      Math.floor(from + ((to - from) * place) / (samples - 1)),
    );
    return [...new Set(heights)].map((height) => ({ feed, height, from, to }));
  });
  const { rows } = await db.execute<{ feed: string; height: string; at: number }>(sql`
    with asked as (
      select feed, height, "from", "to", chain_id, operation, kind
      from jsonb_to_recordset(${JSON.stringify(asked)}::jsonb)
        as asked(feed text, height bigint, "from" bigint, "to" bigint)
      join etl.feeds using (feed)
    ), told as (
      -- The lowest at or above each place; at the window's end the highest below it.
      select feed, "from", "to", item.height, item.timestamp
      from asked, lateral (
        select * from etl.item_above(chain_id, operation, asked.height) where asked.height < asked."to"
        union all
        select * from etl.item_below(chain_id, operation, asked.height, 'infinity')
        where asked.height = asked."to"
      ) as item
      where kind = 'newest-first'
      union all
      select feed, "from", "to", batch_number, blocks.timestamp
      from asked
      join explorer.read_batches as batch
        on batch.chain_id = asked.chain_id and batch_number = asked.height and blocks_count > 0
      join explorer.blocks on blocks.chain_id = batch.chain_id and blocks.height = last_height
      where kind = 'numbered'
    )
    select distinct feed, height, (1000 * extract(epoch from timestamp))::float8 as at
    from told
    where height between "from" and "to" and timestamp is not null
    order by feed, height, at
  `);
  const told = Map.groupBy(rows, ({ feed }) => feed);
  return new Map(
    [...told].map(([feed, points]) => [
      feed,
      inOrder(points.map(({ height, at }) => ({ height: Number(height), at }))),
    ]),
  );
}

/** Without those whose time contradicts their height: of two that do the lower one is kept. */
function inOrder(points: readonly TimedHeight[]): TimedHeight[] {
  const kept: TimedHeight[] = [];
  for (const point of points) {
    const last = kept.at(-1);
    if (last === undefined || (point.height > last.height && point.at >= last.at)) kept.push(point);
  }
  return kept;
}

/** Each look divides what is left by as many as there are samples: nine are enough for any list. */
const mostLooks = 9;

/**
 * The newest part of some lists that is so long, by the times of their items.
 *
 * @param wholes all that there is of each
 * @returns without those of which no time is known
 */
export async function newestOf(
  db: Database,
  wholes: ReadonlyMap<string, Range>,
  seconds: number,
): Promise<ReadonlyMap<string, Range>> {
  const found = new Map<string, Range>();
  const starts = new Map<string, number>();
  let open = new Map(wholes);
  for (let look = 0; look < mostLooks && open.size > 0; look += 1) {
    const times = await timesWithin(db, open);
    const next = new Map<string, Range>();
    for (const [feed, { from, to }] of open) {
      const points = times.get(feed) ?? [];
      const newest = points.at(-1);
      if (newest === undefined) continue;
      const start = starts.get(feed) ?? newest.at - seconds * 1000;
      starts.set(feed, start);
      const above = points.find(({ at }) => at >= start) ?? newest;
      const below = points.findLast(({ at }) => at < start)?.height ?? from;
      found.set(feed, { from: above.height, to: wholes.get(feed)?.to ?? newest.height });
      const isNarrower = below > from || above.height < to;
      if (above.height - below > 1 && isNarrower) next.set(feed, { from: below, to: above.height });
    }
    open = next;
  }
  return found;
}
