import { sql } from 'drizzle-orm';
import type { Database } from '../../db/transaction.ts';
import type { Lane } from '../../walk/tables.ts';
import type { Range } from './ribbon.ts';

/** The walks that a part of a list rests on. */
export interface Witnesses {
  readonly walks: number;
  /** There may be more: no more are looked at. */
  readonly isMore: boolean;
  readonly first: number;
  readonly last: number;
  readonly lanes: readonly Lane[];
  /** When the oldest and the newest of them began; ISO 8601. */
  readonly oldest: string;
  readonly newest: string;
}

/** So many walks are looked at for a part, whatever the history is. */
const most = 200;

/**
 * The walks of each part, those that prove it and those under way in it; null: none is found. Of the walks those
 * are looked at that reach least far above the part's start.
 */
export async function witnessesOf(
  db: Database,
  places: readonly (Range & { readonly feed: string })[],
): Promise<readonly (Witnesses | null)[]> {
  const asked = places.map(({ feed, from, to }) => ({ feed, from, to }));
  const { rows } = await db.execute<{ witnesses: Witnesses | null }>(sql`
    select (
      select case when count(*) filter (where is_there) > 0 then json_build_object(
        'walks', count(*) filter (where is_there),
        'isMore', count(*) = ${most}::bigint,
        'first', min(id) filter (where is_there),
        'last', max(id) filter (where is_there),
        'lanes', (array_agg(distinct lane) filter (where is_there)),
        'oldest', min(started_at) filter (where is_there),
        'newest', max(started_at) filter (where is_there)
      ) end
      from (
        select id, lane, started_at,
               case when state = 'running' then int8range(bottom, top, '[]') && place
                    else proved && place end as is_there
        from (
          select * from etl.walks
          where feeds.kind = 'newest-first' and walks.feed = asked.feed and top >= asked."from"
          order by top
          limit ${most}
        ) as walked, int8range(asked."from", asked."to", '[]') as place
        union all
        select id, lane, started_at, true
        from (
          select * from etl.walks
          where feeds.kind = 'numbered' and walks.feed = asked.feed
            and batch between asked."from" and asked."to"
          order by batch
          limit ${most}
        ) as walked
      ) as looked_at
    ) as witnesses
    from rows from (
      jsonb_to_recordset(${JSON.stringify(asked)}::jsonb) as (feed text, "from" bigint, "to" bigint)
    ) with ordinality as asked(feed, "from", "to", place)
    join etl.feeds using (feed)
    order by asked.place
  `);
  return rows.map(({ witnesses }) => witnesses);
}
