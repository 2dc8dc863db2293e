import { sql } from 'drizzle-orm';
import type { Queryable } from '../../db/query.ts';
import type { EndClaim, EndVerdict } from '../operation.ts';
import { namesOf, type RankedList } from './ranking.ts';

/**
 * By how many more of the lowest ranked were not met than were met contradicts an end. A cut list lacks
 * nearly all of its lowest part; what moves or leaves is scattered: if a quarter of all items is
 * missed, this many at the bottom come by chance in one ranking of 60,000. A false contradiction would
 * hold the feed up, so the bound is no lower.
 */
const cutAtLeast = 10;

interface Held extends Record<string, unknown> {
  /** The newest ranking, or the walk before this one in the same run. */
  readonly list: 'ranking' | 'walk';
  /** When that ranking was published; null for a walk. */
  readonly as_of: string | null;
  readonly known: number;
  readonly unmet: number;
  /** How many more of its lowest were not met than were met, counted from where that is most. */
  readonly cut: number;
  /** Whether the page's last item stands on it. */
  readonly has_last: boolean;
}

/**
 * An earlier reading says whether the list can end here: contracts don't vanish. The end is supported
 * if all of that list were met, and the last that was met is one of them; contradicted if its bottom is
 * missing, or all of it. As many as are in quarantine may be those.
 */
export async function judgeRankingEnd(
  list: RankedList,
  db: Queryable,
  claim: EndClaim,
): Promise<EndVerdict> {
  const { rows } = await db.execute<{ met: number; bad: number; held: readonly Held[] }>(
    holdAgainstKnown(list, claim),
  );
  const { met = 0, bad = 0, held = [] } = rows[0] ?? {};
  const quarantined = bad + claim.quarantined;
  const contradiction = held.find(
    ({ unmet, cut }) => cut - quarantined >= cutAtLeast || (met === 0 && unmet > quarantined),
  );
  if (contradiction !== undefined) {
    // An item that left its place may stand at another: that nothing is there would say nothing.
    return { is: 'contradicted', evidence: evidenceOf(list, met, contradiction), ask: null };
  }
  // What an earlier walk of the run did not meet either has left the list, and says nothing more.
  const judge = held.find((reading) => reading.list === 'walk') ?? held[0];
  const isBorneOut = judge !== undefined && judge.unmet <= quarantined && judge.has_last;
  return { is: isBorneOut ? 'supported' : 'unsupported' };
}

function evidenceOf(
  { items }: RankedList,
  met: number,
  { list, as_of, known, unmet }: Held,
): string {
  const before =
    list === 'ranking' ? `the ranking of ${as_of ?? 'before'} held` : 'the walk before met';
  return `ends after ${met} ${items}, where ${before} ${known}, ${unmet} of them not met`;
}

/** Compares what a walk met, with its uncommitted page, with each known list. */
const holdAgainstKnown = (
  list: RankedList,
  { walk_id, run_id, chain_id, feed, rows }: EndClaim,
) => sql`
  with met as materialized (
    select key from etl.ranking_entries where walk_id = ${walk_id}
    union
    select unnest(${sql.param(rows.map(({ key }) => key))}::text[])
  ), known as (
    select 'ranking' as list, ${namesOf(list).key} as key, rank as place
    from ${namesOf(list).table}
    where chain_id = ${chain_id} and rank is not null
    union all
    select 'walk', key, position
    from etl.ranking_entries
    where walk_id = (
      select max(id) from etl.walks where run_id = ${run_id} and id <> ${walk_id}
    )
  ), judged as (
    select list, known.key, met.key is not null as is_met,
           sum(case when met.key is null then 1 else -1 end)
             over (partition by list order by place desc) as cut
    from known
    left join met on met.key = known.key
  ), held as (
    select list, count(*) as known, count(*) filter (where not is_met) as unmet, max(cut) as cut,
           coalesce(bool_or(key = ${rows.at(-1)?.key ?? null}::text), false) as has_last
    from judged
    group by list
  )
  select (select count(*)::int from met) as met,
         (
           select coalesce(sum(quarantined), 0)::int from etl.pages where walk_id = ${walk_id}
         ) as bad,
         coalesce(
           (
             select json_agg(
               json_build_object(
                 'list', list, 'known', known, 'unmet', unmet, 'cut', cut, 'has_last', has_last,
                 'as_of', case when list = 'ranking' then (
                   select to_char(as_of at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
                   from etl.rankings where feed = ${feed} order by walk_id desc limit 1
                 ) end
               )
               order by list
             )
             from held
           ),
           '[]'
         ) as held
`;
