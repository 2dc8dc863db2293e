import { sql } from 'drizzle-orm';
import type { Database } from '../db/transaction.ts';
import type { Lane, RunState } from '../lists/tables.ts';

/** A walk that was under way when its worker ended, and how many pages of it were committed by then. */
export interface OpenWalk {
  readonly id: number;
  readonly feed: string;
  readonly pages: number;
}

/** Every walk of these feeds that is under way, as it is committed; the one with the most pages first. */
export async function openWalks(db: Database, feeds: readonly string[]): Promise<OpenWalk[]> {
  const { rows } = await db.execute<{ walk: OpenWalk }>(sql`
    select json_build_object('id', id, 'feed', feed, 'pages', pages) as walk
    from etl.walks
    where state = 'running' and feed = any(${sql.param(feeds)}::text[])
    order by pages desc, id
  `);
  return rows.map(({ walk }) => walk);
}

/** How a walk went on under another worker. Pages are counted from 1. */
export interface ResumedWalk {
  readonly feed: string;
  /** The last page that was committed before; 0: none. */
  readonly stopped_at: number;
  /** The first one that was committed after; null: the walk has no other. */
  readonly resumed_at: number | null;
}

/** What the ledger says of walks that changed hands. */
export interface Resumption {
  readonly walks: readonly ResumedWalk[];
  /** Places where a page does not go on where the one before it ended. */
  readonly lost: number;
  /** Pages that are there once more, or were read for a walk that was given up. */
  readonly twice: number;
}

/** Holds the ledger against what was committed when the walks changed hands. */
export async function readResumption(
  db: Database,
  before: readonly OpenWalk[],
): Promise<Resumption> {
  const { rows } = await db.execute<{ resumption: Resumption }>(sql`
    with before as (
      select id, feed, pages
      from json_to_recordset(${JSON.stringify(before)}::json) as walk(id bigint, feed text, pages bigint)
    ), page as (
      select walk_id, sequence, cursor_in,
             lag(sequence, 1, -1::bigint) over walk as sequence_before,
             lag(cursor_out) over walk as cursor_before
      from etl.pages
      where walk_id in (select id from before)
      window walk as (partition by walk_id order by sequence)
    )
    select json_build_object(
      'walks', (
        select coalesce(json_agg(json_build_object(
          'feed', feed,
          'stopped_at', pages,
          'resumed_at', (
            select min(sequence) + 1 from page where walk_id = before.id and sequence >= before.pages
          )
        ) order by pages desc, id), '[]')
        from before
      ),
      'lost', (
        select count(*)
        from page
        where sequence <> sequence_before + 1 or (sequence > 0 and cursor_in is distinct from cursor_before)
      ) + (
        select count(*)
        from before
        where pages > (select count(*) from page where walk_id = before.id and sequence < before.pages)
      ),
      'twice', (
        select count(*) from page
      ) - (
        select count(*) from (select distinct walk_id, cursor_in from page) as once
      ) + (
        -- What a walk read that was given up is read again by another one.
        select coalesce(sum(before.pages), 0)
        from before
        join etl.walks using (id)
        where state in ('failed', 'abandoned')
      )
    ) as resumption
  `);
  const [row] = rows;
  if (row === undefined) throw new Error('the ledger did not answer');
  return row.resumption;
}

/** A lane's newest run, and the totals of all its runs. */
interface LaneCounts {
  readonly feed: string;
  readonly lane: Lane;
  readonly run_state: RunState;
  readonly rows: number;
  readonly pages: number;
  readonly credits: number;
}

/** The counts of some feeds' lanes; it reads as much after a year as on the first day. */
export async function laneCounts(db: Database, feeds: readonly string[]): Promise<LaneCounts[]> {
  const { rows } = await db.execute<{ counts: LaneCounts }>(sql`
    select json_build_object(
      'feed', feed,
      'lane', lane,
      'run_state', newest.state,
      'rows', coalesce(inserted, 0),
      'pages', coalesce(pages, 0),
      'credits', coalesce(credits, 0)
    ) as counts
    from etl.newest_runs as newest
    left join etl.coverage using (feed, lane)
    where feed = any(${sql.param(feeds)}::text[])
  `);
  return rows.map(({ counts }) => counts);
}
