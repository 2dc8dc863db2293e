import { sql } from 'drizzle-orm';
import type { Database } from '../db/transaction.ts';
import { allKinds } from '../lists/index.ts';

/** A position, and the window for an item with its time. */
export interface Near {
  readonly feed: string;
  readonly height: number;
  readonly from: number;
  readonly to: number;
}

/** As SQL: the times of the positions in `requested`. */
export const times = allKinds(({ ribbon }) => ribbon?.times ?? null);

/** The time of a position, in ms since 1970. */
export interface Point {
  readonly height: number;
  readonly at: number;
}

/** Items at the positions or next to them in their windows, in order; without those of a wrong, future time. */
async function itemsNear(
  db: Database,
  requested: readonly Near[],
): Promise<readonly (Near & Point)[]> {
  const { rows } = await db.execute<{ item: Near & Point }>(sql`
    with requested as (
      select * from jsonb_to_recordset(${JSON.stringify(requested)}::jsonb)
        as requested(feed text, height bigint, "from" bigint, "to" bigint)
    ), found(feed, "from", "to", height, timestamp) as (${times})
    select json_build_object(
      'feed', feed, 'from', "from", 'to', "to", 'height', height,
      'at', (1000 * extract(epoch from timestamp))::float8
    ) as item
    from (select distinct * from found) as item
    where height between "from" and "to" and timestamp <= now() + interval '1 day'
    order by feed, height, timestamp
  `);
  return rows.map(({ item }) => item);
}

/** The time of the item at each position or next to it in its window, ISO 8601; null: unknown. */
export async function timesNear(
  db: Database,
  requested: readonly Near[],
): Promise<readonly (string | null)[]> {
  const byWindow = Map.groupBy(await itemsNear(db, requested), windowOf);
  return requested.map((near) => {
    const distance = (item: Near) => Math.abs(item.height - near.height);
    const items = byWindow.get(windowOf(near)) ?? [];
    const [nearest] = items.toSorted((one, other) => distance(one) - distance(other));
    return nearest === undefined ? null : new Date(nearest.at).toISOString();
  });
}

const windowOf = ({ feed, from, to }: Near): string => `${feed} ${from} ${to}`;

/** Positions with a looked-up time; others are interpolated. */
const samples = 24;

/** Sample positions of each list with their times, in order. */
export async function sampleTimes(
  db: Database,
  extents: readonly Omit<Near, 'height'>[],
): Promise<ReadonlyMap<string, readonly Point[]>> {
  const requested = extents.flatMap(({ feed, from, to }) =>
    Array.from({ length: samples }, (_, place) => ({
      feed,
      height: Math.floor(from + ((to - from) * place) / (samples - 1)),
      from,
      to,
    })),
  );
  const byFeed = Map.groupBy(await itemsNear(db, requested), ({ feed }) => feed);
  return new Map([...byFeed].map(([feed, own]) => [feed, inOrder(own)]));
}

/** The largest set of points whose times rise with their heights. */
function inOrder(points: readonly Point[]): readonly Point[] {
  const chains: (readonly Point[])[] = [];
  for (const { height, at } of points) {
    const below = chains.filter((chain) => isBelow(chain.at(-1), { height, at }));
    chains.push([...longest(below), { height, at }]);
  }
  return longest(chains);
}

const isBelow = (one: Point | undefined, other: Point) =>
  one !== undefined && one.height < other.height && one.at <= other.at;

const longest = (chains: readonly (readonly Point[])[]): readonly Point[] =>
  chains.reduce((best, chain) => (chain.length > best.length ? chain : best), []);
