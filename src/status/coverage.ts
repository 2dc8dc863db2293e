import { sql, type SQL } from 'drizzle-orm';
import { execute, type Database } from '../db/transaction.ts';
import { byKind, isBoundedBy } from '../lists/index.ts';
import { isOperation } from '../lists/registry.ts';
import { longestChain } from '../sync/order.ts';
import { cell, type CoverageDocument, range, type StripsDocument } from './endpoints.ts';
import { feedUnit } from './facts.ts';
import { commandFor } from './findings.ts';
import { positionUnit } from './schema.ts';
import { z } from 'zod';

export type CellState = CoverageDocument['segments'][number]['state'];
/** Both ends included. */
export type Range = Readonly<NonNullable<CoverageDocument['window']>>;

/** A feed as it can be drawn. */
const extentShape = () =>
  z.object({
    feed: z.string(),
    chain_id: z.number(),
    operation: z.string(),
    unit: positionUnit,
    /** Null: no data, or no positions. */
    whole: range.nullable(),
    /** Whether the list may continue below the lowest position read. */
    is_open_below: z.boolean(),
    /** When the head was last polled. */
    looked_at: z.string().nullable(),
    first_snapshot_at: z.number().nullable(),
    /** Estimated pages per position; null: too few pages were read. */
    pages_each: z.number().nullable(),
    /** In ms since 1970, by the database's clock. */
    now: z.number(),
  });
export type Extent = Readonly<z.infer<ReturnType<typeof extentShape>>>;

/** As SQL: whether a first read or a backfill is active. Failed and stopped runs are not. */
const isReading = sql`exists (
  select from etl.runs left join etl.lanes using (feed, lane)
  where runs.feed = feeds.feed and state = 'open' and stopped_at is null and failures_in_a_row = 0
    and (lane = 'backfill' or feeds.last_success_at is null)
)`;

/** As SQL: a time in ms since 1970. */
const ms = (time: SQL) => sql`(1000 * extract(epoch from ${time}))::float8`;

/** As SQL: the end of a feed's first backfill, or of its first ranking if the last one is complete, in ms since 1970. */
const firstSnapshotAt = byKind(({ verifies }) =>
  verifies === 'ranks'
    ? sql`(
        select ${ms(sql`published_at`)} from etl.rankings
        where rankings.feed = feeds.feed and feed in (select feed from etl.complete_rankings)
        order by walk_id
        limit 1
      )`
    : sql`(
        select ${ms(sql`closed_at`)} from etl.runs
        where state = 'finished' and (feed, lane, id) >= (feeds.feed, 'backfill', 0)
          and (feed, lane, id) < (feeds.feed, 'live', 0)
        order by feed, lane, id
        limit 1
      )`,
);

/** Each feed, with its range from the lowest known or requested position to the newest. */
const readExtents = (db: Database) =>
  execute(db).values(extentShape)`
    with parts as materialized (select * from etl.coverage_parts)
    select json_build_object(
      'feed', feed, 'chain_id', chain_id, 'operation', operation, 'unit', ${feedUnit},
      'whole', case when ends is not null then json_build_object('from', begins, 'to', ends - 1) end,
      'is_open_below', coalesce(not isempty(unknown), false),
      'looked_at', (select looked_at from explorer.freshness where freshness.feed = feeds.feed),
      'first_snapshot_at', ${firstSnapshotAt},
      'pages_each', coalesce(
        (
          select sum(spanned_items) / nullif(sum(spanned_blocks), 0)::float8
                   * (sum(pages) / nullif(sum(spanned_items), 0)::float8)
          from etl.coverage where coverage.feed = feeds.feed and lane = 'backfill'
        ),
        (select sum(pages) from etl.coverage where coverage.feed = feeds.feed)
          / nullif(etl.width(verified), 0)::float8
      ),
      'now', ${ms(sql`now()`)}
    ) as extent
    from etl.feeds
    left join parts using (feed)
    order by chain_id, operation
  `;

const drawnShape = () =>
  z.object({
    feed: z.string(),
    /** The most important state in each cell, so that a gap of one block shows. */
    states: z.array(cell),
    gaps: z.array(range),
  });
type Drawn = z.infer<ReturnType<typeof drawnShape>>;

/** The list stops here; the drawing shows all gaps. */
const mostGaps = 50;

/** The feed is the outer loop: each cell searches its multiranges without unnesting them. */
async function readCells(
  db: Database,
  requested: readonly { readonly feed: string; readonly bounds: readonly number[] }[],
): Promise<ReadonlyMap<string, Drawn>> {
  const drawn = await execute(db).values(drawnShape)`
    with parts as materialized (select * from etl.coverage_parts), requested as (
      select * from jsonb_to_recordset(${JSON.stringify(requested)}::jsonb) as requested(feed text, bounds int8[])
    )
    select json_build_object('feed', feed, 'states', (
      select json_agg(
        case when gap && cell then case when is_reading then 'reading' else 'gap' end
             when quarantined && cell then 'quarantined'
             when reading && cell then 'reading'
             when unverified && cell then 'unverified'
             when verified && cell then 'verified'
             when unknown && cell and not out_of_range && cell or lower(cell) >= ends then 'unknown'
             else 'out-of-range' end
        order by place
      )
      from generate_subscripts(bounds, 1) as place,
           int8range(bounds[place], greatest(bounds[place + 1], bounds[place] + 1)) as cell
      where place < cardinality(bounds)
    ), 'gaps', (
      select coalesce(json_agg(json_build_object('from', lower(missing), 'to', upper(missing) - 1)), '[]')
      from (
        select missing
        from unnest(gap * int8multirange(int8range(bounds[1], bounds[cardinality(bounds)]))) as missing
        where not is_reading
        order by missing desc
        limit ${mostGaps}
      ) as newest
    )) as drawn
    from requested
    join parts using (feed)
    join etl.feeds using (feed)
    cross join lateral (select ${isReading} as is_reading) as run
  `;
  return new Map(drawn.map((one) => [one.feed, one]));
}

/** The window of a feed's coverage; null: from the lowest, to the newest. */
export interface CoverageWindow {
  readonly feed: string;
  readonly from: number | null;
  readonly to: number | null;
  readonly cells: number;
}

/** A feed's coverage over a window; null: no such feed. */
export async function readCoverage(
  db: Database,
  { feed, from, to, cells }: CoverageWindow,
): Promise<CoverageDocument | null> {
  const extent = (await readExtents(db)).find((one) => one.feed === feed);
  if (extent === undefined) return null;
  const { unit, whole } = extent;
  const commands = (['run', 'pause', 'resume'] as const).map((handle) => {
    return { handle, command: commandFor(`feeds ${handle}`, extent) };
  });
  if (whole === null) return { feed, unit, whole, window: null, segments: [], gaps: [], commands };
  const within = (position: number) => Math.min(Math.max(position, 0), whole.to);
  const lowest = within(from ?? whole.from);
  const window = { from: lowest, to: Math.max(lowest, within(to ?? whole.to)) };
  const { segments, gaps } = await readWindow(db, feed, window, cells);
  const timed = await withTimes(db, extent, gaps, 'beside');
  return {
    feed,
    unit,
    whole,
    window,
    segments: await withTimes(db, extent, segments, 'inside'),
    gaps: timed.map((gap) => ({
      ...gap,
      requests: requestsOf(gap, extent),
      command: commandOf(gap, extent),
    })),
    commands,
  };
}

/** The cells of a window, merged by state. */
async function readWindow(db: Database, feed: string, { from, to }: Range, cells: number) {
  const size = Math.ceil((to - from + 1) / cells);
  const count = Math.ceil((to - from + 1) / size);
  const bounds = Array.from({ length: count }, (_, at) => from + at * size);
  const read = await readCells(db, [{ feed, bounds: [...bounds, to + 1] }]);
  const { states = [], gaps = [] } = read.get(feed) ?? {};
  const segments: (Range & { state: CellState })[] = [];
  for (const [at, state] of states.entries()) {
    const start = bounds[at] ?? from;
    const end = Math.min(to, start + size - 1);
    const last = segments.at(-1);
    if (last?.state === state) segments[segments.length - 1] = { ...last, to: end };
    else segments.push({ from: start, to: end, state });
  }
  return { segments, gaps };
}

/** As SQL: later times of items are wrong. */
export const soon = sql`now() + interval '1 day'`;

/** Adds the times of the lowest and highest items inside each range, or of those on both sides; null: unknown. */
async function withTimes<Part extends Range>(
  db: Database,
  { chain_id, operation }: Extent,
  ranges: readonly Part[],
  where: 'inside' | 'beside',
) {
  const isInside = where === 'inside';
  const above = (at: SQL) => sql`etl.items_above(${chain_id}, ${operation}, ${at})`;
  const below = (at: SQL) => sql`etl.items_below(${chain_id}, ${operation}, ${at}, ${soon})`;
  const times = await execute(db).values(() => z.array(z.string().nullable()))`
    select json_build_array(low.timestamp, high.timestamp) as times
    from rows from (jsonb_to_recordset(${JSON.stringify(ranges)}::jsonb) as ("from" bigint, "to" bigint))
      with ordinality as part("from", "to", place)
    left join ${isInside ? above(sql`"from"`) : below(sql`"from" - 1`)} as low
      on (low.height <= "to" and low.timestamp <= ${soon})
    left join ${isInside ? below(sql`"to"`) : above(sql`"to" + 1`)} as high
      on (high.height >= "from" and high.timestamp <= ${soon})
    order by place
  `;
  return ranges.map((part, at) => {
    const [from_at = null, to_at = null] = (times[at] ?? []).map(
      (time) => time && new Date(time).toISOString(),
    );
    return { ...part, from_at, to_at };
  });
}

const requestsOf = ({ from, to }: Range, { pages_each }: Extent): number | null =>
  pages_each === null ? null : Math.max(1, Math.ceil((to - from + 1) * pages_each));

/** A list by block refetches the missing blocks; one by batch refetches whole batches. */
const commandOf = ({ from, to }: Range, extent: Extent): string =>
  isOperation(extent.operation) && isBoundedBy(extent.operation, 'fromBlock')
    ? `${commandFor('backfill', extent)} --from-block ${from} --to-block ${to}`
    : commandFor('repair', extent);

const stripCells = 90;
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
  const extents = await readExtents(db);
  const known = extents.flatMap(({ feed, whole }) => (whole === null ? [] : [{ feed, ...whole }]));
  const points = await sampleTimes(db, known);
  const feeds = extents.map((extent) => {
    return { ...extent, scale: scaleOf(points.get(extent.feed) ?? [], extent) };
  });
  const now = feeds[0]?.now ?? Date.now();
  const begins = feeds.flatMap((extent) => {
    const lowest = lowestOf(extent, shares);
    const lowestAt = lowest === null ? null : extent.scale?.timeAt(lowest);
    return [lowestAt ?? now, extent.first_snapshot_at ?? now];
  });
  const from = Math.max(firstBlockMs, Math.min(now - leastMs, ...begins));
  const boundAt = (place: number) => from + ((now - from) * place) / stripCells;
  const places = Array.from({ length: stripCells + 1 }, (_, place) => place);
  const requested = feeds.flatMap(({ feed, whole, scale }) => {
    if (whole === null || scale === null) return [];
    const heightAt = (place: number) => clamp(scale.heightAt(boundAt(place)), 0, whole.to + 1);
    return [{ feed, bounds: places.map(heightAt) }];
  });
  const drawn = await readCells(db, requested);
  return {
    from: new Date(from).toISOString(),
    to: new Date(now).toISOString(),
    cells: stripCells,
    feeds: feeds.map(({ feed, scale, first_snapshot_at }) => ({
      feed,
      cells: places.slice(0, -1).map((place): CellState => {
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
function scaleOf(points: readonly Point[], { looked_at }: Extent) {
  const [first, last] = [points[0], points.at(-1)];
  if (first === undefined || last === undefined || last.at <= first.at) return null;
  const polledAt = looked_at === null ? last.at : Date.parse(looked_at);
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
const pointShape = () => z.object({ height: z.number(), at: z.number() });
type Point = z.infer<ReturnType<typeof pointShape>>;

/** Positions with a looked-up time; others are interpolated. */
const samples = 24;

/** Sample positions of each list with their times, in order: the most whose times rise with their heights. */
export async function sampleTimes(
  db: Database,
  extents: readonly (Range & { readonly feed: string })[],
): Promise<ReadonlyMap<string, readonly Point[]>> {
  const last = sql`${samples - 1}::int`;
  const points = await execute(db).values(() => pointShape().extend({ feed: z.string() }))`
    select json_build_object(
      'feed', feed, 'height', height, 'at', ${ms(sql`timestamp`)}
    ) as point
    from (
      select distinct feed, item.height, item.timestamp
      from jsonb_to_recordset(${JSON.stringify(extents)}::jsonb) as extent(feed text, "from" bigint, "to" bigint)
      join etl.feeds using (feed)
      cross join generate_series(0, ${last}) as place
      cross join lateral (
        select * from etl.items_above(chain_id, operation, "from" + ("to" - "from") * place / ${last})
        where place < ${last}
        union all
        select * from etl.items_below(chain_id, operation, "to", ${soon})
        where place = ${last}
      ) as item
      where item.height between "from" and "to" and item.timestamp <= ${soon}
    ) as sample
    order by feed, height, timestamp
  `;
  const byFeed = Map.groupBy(points, ({ feed }) => feed);
  return new Map([...byFeed].map(([feed, own]) => [feed, longestChain(own, mayFollow)]));
}

const mayFollow = (below: Point, above: Point) =>
  below.height < above.height && below.at <= above.at;

const clamp = (value: number, least: number, most: number): number =>
  Math.min(Math.max(value, least), most);
