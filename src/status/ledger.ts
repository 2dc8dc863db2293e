import { sql } from 'drizzle-orm';
import { execute, type Database } from '../db/transaction.ts';
import { soon } from './coverage.ts';
import { runsDocument, throughputDocument } from './endpoints.ts';
import { z } from 'zod';

/** Possible widths of bins, in seconds, and their maximum number. */
const widths = [60, 300, 900, 3_600, 21_600];
const mostBins = 170;
/** Maximum of pages to sum: a window with more begins later. */
const mostPages = 80_000;

/** The last hours of all feeds, or of one. */
export interface RecentWindow {
  readonly hours: number;
  readonly feed: string | null;
}

/** Throughput of the last hours. Lag is only of one feed: over several it means nothing. */
export async function readThroughput(db: Database, { hours: most, feed }: RecentWindow) {
  const hours = Math.min(most, (await hoursOfLife(db)) ?? most);
  const binS = widths.find((width) => (hours * 3_600) / width <= mostBins) ?? 86_400;
  const { first, from, to } = await findWindow(db, hours, binS);
  const bins = await execute(db).values(() => throughputDocument.shape.bins.element)`
    with page as materialized (
      -- Few columns: there may be many pages, and cursors are long.
      select walk_id, top, cursor_in is null as is_first, inserted + changed as written, credits,
             fetched_at, ${binOf(binS, sql`fetched_at`)} as bin
      from etl.pages
      where id >= ${first} and fetched_at >= ${from} and (${feed}::text is null or feed = ${feed})
    ), sums as (
      select bin, count(*) as pages, sum(written) as rows, sum(page.credits) as credits
      from page
      group by bin
    ), polls as (
      select distinct on (bin) bin, fetched_at as polled_at, coalesce(batch, page.top) as height
      from page
      join etl.walks on walks.id = walk_id
      where ${feed}::text is not null and is_first and lane = 'live' and from_head
        and coalesce(batch, page.top) is not null
      order by bin, height desc
    )
    select json_build_object(
      'at', at, 'pages', coalesce(pages, 0), 'rows', coalesce(rows, 0),
      'credits', coalesce(credits, 0),
      'lag_s', case when timestamp is not null
        then greatest(0, round(extract(epoch from polled_at - timestamp), 3)) end
    ) as bin
    from generate_series(${from}::timestamptz, ${to}::timestamptz - ${seconds(binS)}, ${seconds(binS)}) as at
    left join sums on sums.bin = at
    left join polls on polls.bin = at
    left join etl.feeds on feeds.feed = ${feed}
    left join etl.items_below(chain_id, operation, polls.height, ${soon}) as newest on true
    order by at
  `;
  return { from, to, bin_s: binS, bins };
}

/** When the copy began; null: it has not. */
const began = sql`(select opened_at from etl.runs order by id limit 1)`;

/** Since the copy began, and at least a bin, as the first one is left out; null: it has not. */
const hoursOfLife = (db: Database) =>
  execute(db).value(() => z.number().nullable())`
    select (1.05 * extract(epoch from now() - ${began}) + 60)::float8 / 3600 as hours`;

const seconds = (count: number) => sql`make_interval(secs => ${count})`;
const binOf = (width: number, time: ReturnType<typeof sql>) =>
  sql`date_bin(${seconds(width)}, ${time}, 'epoch'::timestamptz)`;

/** The window's bins and first page: a binary search over ids, in order of time by minutes. */
async function findWindow(db: Database, hours: number, binS: number) {
  const found = await execute(db).value(() =>
    z.object({ first: z.number(), from: z.string(), to: z.string() }),
  )`
    with recursive search(since, low, high) as (
      select now() - make_interval(secs => ${hours * 3_600}), coalesce(min(id), 0), coalesce(max(id), 0) + 1
      from etl.pages
      union all
      select since, case when is_before then middle + 1 else low end,
             case when is_before then high else middle end
      from search, lateral (select (low + high) / 2 as middle) as halved, lateral (
        select coalesce((
          select fetched_at < since - interval '10 minutes'
          from etl.pages where id >= middle order by id limit 1
        ), false) as is_before
      ) as page
      where low < high
    ), bounds as (
      select max(low) as found, (select max(id) from etl.pages) - ${mostPages}::bigint as least, max(since) as since
      from search
    )
    select json_build_object(
      'first', greatest(found, least),
      'from', ${binOf(
        binS,
        sql`greatest(since, (
          select fetched_at from etl.pages where least > found and id >= least order by id limit 1
        ))`,
      )} + ${seconds(binS)},
      'to', ${binOf(binS, sql`now()`)} + ${seconds(binS)}
    ) as window
    from bounds
  `;
  if (found === null) throw new Error('the ledger has no bounds');
  return found;
}

/** Maximum of newest runs and events. */
const mostRuns = 1_000;
const mostEvents = 500;

/** Runs and events of the last hours, newest first. */
export async function readRuns(db: Database, { hours, feed }: RecentWindow) {
  const since = sql`now() - make_interval(hours => ${hours})`;
  const found = await execute(db).value(() => runsDocument)`
    with begun as (
      select run_id from etl.walks where finished_at >= ${since}
      union
      select walk.run_id
      from etl.feeds
      cross join lateral (
        select run_id from etl.walks where walks.feed = feeds.feed and started_at >= ${since}
      ) as walk
      union
      select id from etl.runs where state = 'open'
    ), recent as materialized (
      select run.*
      from begun
      -- One by one: the planner would read all runs for as many as it expects.
      cross join lateral (select * from etl.runs where runs.id = run_id limit 1) as run
      where (${feed}::text is null or feed = ${feed}) and (closed_at is null or closed_at >= ${since})
      order by id desc
      limit ${mostRuns}
    )
    select json_build_object(
      'from', greatest(${since}, ${began}, (select min(opened_at) from recent having count(*) = ${mostRuns})),
      'to', now(),
      'runs', (
        select coalesce(json_agg(json_build_object(
          'id', id, 'feed', feed, 'lane', lane, 'state', state, 'opened_at', opened_at,
          'ended_at', closed_at, 'pages', coalesce(pages, 0), 'rows', coalesce(rows, 0), 'reason', reason,
          'failed_requests', failed_requests, 'first_failure', first_failure,
          'waited_s', round(waited_ms / 1000.0, 1)
        ) order by id desc), '[]')
        from recent
        cross join lateral (
          select sum(pages) as pages, sum(inserted + changed) as rows
          from etl.walks where walks.run_id = recent.id
        ) as sums
      ),
      'events', (
        select coalesce(json_agg(json_build_object(
          'at', at, 'kind', kind, 'feed', feed, 'sentence', sentence
        ) order by at desc), '[]')
        from (
          select * from etl.events
          where at >= ${since} and (feed is null or ${feed}::text is null or feed = ${feed})
          order by at desc
          limit ${mostEvents}
        ) as event
      )
    ) as runs
  `;
  if (found === null) throw new Error('a statement without a table answers one row');
  return found;
}
