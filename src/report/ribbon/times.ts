import { sql } from 'drizzle-orm';
import type { Database } from '../../db/transaction.ts';
import { kinds } from '../../lists/index.ts';
import type { Range } from './ribbon.ts';

/** When a height was, in ms since 1970. */
export interface TimedHeight {
  readonly height: number;
  readonly at: number;
}

/** As SQL: the times of what rows `asked` name. */
const timesOf = sql.join(
  Object.values(kinds).flatMap(({ ribbon }) => (ribbon === null ? [] : [ribbon.times])),
  sql` union all `,
);

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
      select * from jsonb_to_recordset(${JSON.stringify(asked)}::jsonb)
        as asked(feed text, height bigint, "from" bigint, "to" bigint)
    ), told(feed, "from", "to", height, timestamp) as (${timesOf})
    select distinct feed, height, (1000 * extract(epoch from timestamp))::float8 as at
    from told
    -- A time that is still to come is wrong: as the newest one it would end every span.
    where height between "from" and "to" and timestamp <= now() + interval '1 day'
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

/** Without those whose time contradicts their height: as many as agree with each other are kept. */
function inOrder(points: readonly TimedHeight[]): readonly TimedHeight[] {
  const chains: (readonly TimedHeight[])[] = [];
  for (const point of points) {
    const below = chains.filter((chain) => isBelow(chain.at(-1), point));
    chains.push([...longest(below), point]);
  }
  return longest(chains);
}

const isBelow = (one: TimedHeight | undefined, other: TimedHeight) =>
  one !== undefined && one.height < other.height && one.at <= other.at;

const longest = (chains: readonly (readonly TimedHeight[])[]): readonly TimedHeight[] =>
  chains.reduce((best, chain) => (chain.length > best.length ? chain : best), []);

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
