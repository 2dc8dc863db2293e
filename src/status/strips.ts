import { sql } from 'drizzle-orm';
import type { Database } from '../db/transaction.ts';
import {
  readCells,
  readExtents,
  soon,
  type CellState,
  type Extent,
  type Range,
} from './coverage.ts';
import type { StripsDocument } from './endpoints.ts';

const cells = 90;
/** Maximum of unread history, as a multiple of the read one, and its value if unknown. */
const mostBelow = 5;
const unknownBelow = 1 / 6;
/** No chain is older: 2015-07-30, in ms. */
const firstBlockMs = Date.UTC(2015, 6, 30);
/** The shortest time axis, in ms. */
const leastMs = 90_000;

/** A strip for each feed, on one time axis; `shares`, verified parts, give the unread length. */
export async function readStrips(
  db: Database,
  shares: ReadonlyMap<string, number>,
): Promise<StripsDocument> {
  const feeds = await readExtents(db);
  const known = feeds.flatMap(({ feed, whole }) => (whole === null ? [] : [{ feed, ...whole }]));
  const points = await sampleTimes(db, known);
  const now = feeds[0]?.now ?? Date.now();
  const scales = new Map(
    feeds.map((extent) => [extent.feed, scaleOf(points.get(extent.feed) ?? [], extent)]),
  );
  const begins = feeds.flatMap((extent) => {
    const lowest = lowestOf(extent, shares);
    const lowestAt = lowest === null ? null : scales.get(extent.feed)?.timeAt(lowest);
    return [lowestAt ?? now, extent.first_snapshot_at ?? now];
  });
  const from = Math.max(firstBlockMs, Math.min(now - leastMs, ...begins));
  const boundAt = (place: number) => from + ((now - from) * place) / cells;
  const requested = known.flatMap(({ feed, to }) => {
    const scale = scales.get(feed) ?? null;
    if (scale === null) return [];
    const heightAt = (place: number) => clamp(scale.heightAt(boundAt(place)), 0, to + 1);
    return [{ feed, bounds: Array.from({ length: cells + 1 }, (_, place) => heightAt(place)) }];
  });
  const drawn = await readCells(db, requested);
  return {
    from: new Date(from).toISOString(),
    to: new Date(now).toISOString(),
    cells,
    feeds: feeds.map(({ feed, first_snapshot_at }) => ({
      feed,
      cells: Array.from({ length: cells }, (_, place): CellState => {
        const scale = scales.get(feed) ?? null;
        if (scale?.isEmptyFrom(boundAt(place))) return 'verified';
        if (scale !== null) return drawn.get(feed)?.states[place] ?? 'unknown';
        if (first_snapshot_at === null) return 'unknown';
        return boundAt(place + 1) > first_snapshot_at ? 'verified' : 'out-of-range';
      }),
    })),
  };
}

/** The lowest drawn position; unread history is estimated from the read one. Null: no positions. */
function lowestOf(
  { feed, whole, is_open_below }: Extent,
  shares: ReadonlyMap<string, number>,
): number | null {
  if (whole === null || !is_open_below) return whole?.from ?? null;
  const { from, to } = whole;
  const share = shares.get(feed) ?? 0;
  const below = share > 0 ? clamp(1 / share - 1, unknownBelow, mostBelow) : unknownBelow;
  return Math.max(0, from - (to - from) * below);
}

/**
 * Positions by time, and times by position: linear between known points, at their mean pace outside; null: fewer than
 * two points. Pure.
 */
function scaleOf(points: readonly Point[], { last_success_at }: Extent) {
  const [first, last] = [points[0], points.at(-1)];
  if (first === undefined || last === undefined || last.at <= first.at) return null;
  const polledAt = last_success_at === null ? last.at : Date.parse(last_success_at);
  const along = (value: number, axis: keyof Point, other: keyof Point) => {
    const above = points.findIndex((point) => point[axis] > value);
    const [lower = first, upper = last] = above < 1 ? [] : points.slice(above - 1, above + 1);
    const pace = (upper[other] - lower[other]) / (upper[axis] - lower[axis]);
    return lower[other] + (value - lower[axis]) * pace;
  };
  return {
    heightAt: (time: number) => Math.floor(along(time, 'at', 'height')),
    timeAt: (height: number) => along(height, 'height', 'at'),
    /** True between the newest item and the last poll: no items exist there. */
    isEmptyFrom: (time: number) => time > last.at && time <= polledAt,
  };
}

/** The time of a position, in ms since 1970. */
interface Point {
  readonly height: number;
  readonly at: number;
}

/** Positions with a looked-up time; others are interpolated. */
const samples = 24;

/** Sample positions of each list with their times, in order. */
export async function sampleTimes(
  db: Database,
  extents: readonly (Range & { readonly feed: string })[],
): Promise<ReadonlyMap<string, readonly Point[]>> {
  const last = sql`${samples - 1}::int`;
  const { rows } = await db.execute<{ point: Point & { feed: string } }>(sql`
    select json_build_object(
      'feed', feed, 'height', height, 'at', (1000 * extract(epoch from timestamp))::float8
    ) as point
    from (
      select distinct feed, item.height, item.timestamp
      from jsonb_to_recordset(${JSON.stringify(extents)}::jsonb) as extent(feed text, "from" bigint, "to" bigint)
      join etl.feeds using (feed)
      cross join generate_series(0, ${last}) as place
      cross join lateral (
        select * from etl.item_above(chain_id, operation, "from" + ("to" - "from") * place / ${last})
        where place < ${last}
        union all
        select * from etl.item_below(chain_id, operation, "to", ${soon})
        where place = ${last}
      ) as item
      where item.height between "from" and "to" and item.timestamp <= ${soon}
    ) as sample
    order by feed, height, timestamp
  `);
  const byFeed = Map.groupBy(rows, ({ point }) => point.feed);
  return new Map([...byFeed].map(([feed, own]) => [feed, inOrder(own.map(({ point }) => point))]));
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

const clamp = (value: number, least: number, most: number): number =>
  Math.min(Math.max(value, least), most);
