import type { Database } from '../db/transaction.ts';
import { readCells, readExtents, type CellState, type Extent } from './coverage.ts';
import type { StripsDocument } from './endpoints.ts';
import { sampleTimes, type Point } from './item-times.ts';

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

/** Positions by time, and times by position. */
interface Scale {
  heightAt(time: number): number;
  timeAt(height: number): number;
  /** True between the newest item and the last poll: no items exist there. */
  isEmptyFrom(time: number): boolean;
}

/** Linear between known points, at their mean pace outside; null: fewer than two points. Pure. */
function scaleOf(points: readonly Point[], { last_success_at }: Extent): Scale | null {
  const [first, last] = [points[0], points.at(-1)];
  if (first === undefined || last === undefined || last.at <= first.at) return null;
  const polledAt = last_success_at === null ? last.at : Date.parse(last_success_at);
  /** The known points around a value; outside of them the first and the last. */
  const around = (value: number, of: (point: Point) => number): readonly [Point, Point] => {
    const above = points.findIndex((point) => of(point) > value);
    const [one, other] = [points[above - 1], points[above]];
    return one === undefined || other === undefined ? [first, last] : [one, other];
  };
  return {
    heightAt(time) {
      const [one, other] = around(time, ({ at }) => at);
      const own = (other.height - one.height) / (other.at - one.at);
      return Math.floor(one.height + (time - one.at) * own);
    },
    timeAt(height) {
      const [one, other] = around(height, (point) => point.height);
      return one.at + ((height - one.height) * (other.at - one.at)) / (other.height - one.height);
    },
    isEmptyFrom: (time) => time > last.at && time <= polledAt,
  };
}

const clamp = (value: number, least: number, most: number): number =>
  Math.min(Math.max(value, least), most);
