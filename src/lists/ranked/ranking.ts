import { sql, type SQL } from 'drizzle-orm';
import { changeTime } from '../../db/changes.ts';
import { tableName } from '../../db/column-types.ts';
import { execute, type Queryable, type Transaction } from '../../db/transaction.ts';
import type { EndClaim, EndVerdict, RankedOperation, WalkContext } from '../operation.ts';
import { z } from 'zod';

/** As SQL: the list's tables of items and of changes, and its columns. */
function namesOf({ table, ranking: { key, total, history } }: RankedOperation) {
  return {
    table: sql.raw(tableName(table)),
    history: sql.raw(tableName(history)),
    key: sql.raw(`"${key}"`),
    total: sql.raw(`"${total}"`),
  };
}

/** Why a walk to the list's end gives no ranking: the order changed meanwhile. */
export const rowsMoved = 'moved';

/** Most walks of one ranking: an order may never rest. A row missed thrice is more likely gone. */
const walksAtMost = 3;

/**
 * Publishes a ranking after a walk of the whole list. If rows moved, another walk follows, since an item that moved up across
 * the cursor is on no page; the last one is published with a note. Returns null, or why it was not published.
 */
export async function concludeRanking(
  list: RankedOperation,
  tx: Transaction,
  walk: WalkContext,
): Promise<string | null> {
  const found = await execute(tx).one(conclusionShape)`
    select (
             select count(*)::int from etl.walks
             where run_id = ${walk.run_id} and failure is distinct from 'truncated'
           ) as walks,
           ${hasMoved(list, walk)} as moved,
           ${lacksNamed(list, walk)} and coalesce((${lastItems(walk)}) = 0, false) as is_cut,
           ${skipsPart(list, walk)} as skipped,
           exists (
             select from etl.ranking_entries join etl.walks on walks.id = walk_id
             where ${countsFor(walk)}
           ) as has_items,
           exists (
             select from etl.pages join etl.walks on walks.id = walk_id
             where run_id = ${walk.run_id} and pages.quarantined > 0
           ) as has_quarantined
  `;
  // An empty page leads on to what is below it.
  if (found.skipped) return 'skipped';
  if (found.moved && found.walks < walksAtMost) return rowsMoved;
  // A service under repair lists no item, though some are stored.
  if (found.moved && !found.has_items && !found.has_quarantined) return 'empty';
  if (found.is_cut) return 'skipped';
  await publish(list, tx, walk, found);
  return null;
}

/** What the walks of a run have shown, at the end of one of them. */
const conclusionShape = () =>
  z.object({
    walks: z.number(),
    moved: z.boolean(),
    /** Whether an empty page ends the walk in place of the item that its cursor names: of other ends it may have moved up. */
    is_cut: z.boolean(),
    /** Whether an empty page of the walk led on, and neither an equal token nor the last ranking explains it. */
    skipped: z.boolean(),
    /** Whether the walks met an item, and have one in quarantine. */
    has_items: z.boolean(),
    has_quarantined: z.boolean(),
  });
type Conclusion = z.infer<ReturnType<typeof conclusionShape>>;

/**
 * As SQL: whether rows moved, by the items that a walk met or missed. An item that two walks in a row
 * missed has left the list; a missed item may be one of those in quarantine.
 */
function hasMoved(list: RankedOperation, walk: WalkContext): SQL {
  const { table, key } = namesOf(list);
  return sql`exists (
    select from etl.ranking_entries where walk_id = ${walk.walk_id} and has_moved
  ) or ${lacksNamed(list, walk)} or (
    with before as (
      select key
      from etl.ranking_entries
      join etl.walks on walks.id = walk_id
      where ${countsFor(walk)} and walk_id <> ${walk.walk_id}
    ), expected as (
      select key from before
      union all
      select ${key}
      from ${table}
      where chain_id = ${walk.chain_id} and rank is not null and not exists (select from before)
    )
    select count(*)
    from (
      select key from expected
      except
      select key from etl.ranking_entries where walk_id = ${walk.walk_id}
    ) as unmet
  ) > (
    select coalesce(sum(quarantined), 0) from etl.pages where walk_id = ${walk.walk_id}
  )`;
}

/** As SQL: whether a walk met the item that its last cursor names neither on its last page nor right above. */
function lacksNamed(list: RankedOperation, { walk_id, cursor, isConclusive }: WalkContext): SQL {
  // Of an end without items, the cursor alone says that more was listed.
  const named = (cursor !== null && isConclusive && list.ranking.position(cursor)?.key) || null;
  return sql`${named}::text is not null and not exists (
    select from etl.ranking_entries
    where walk_id = ${walk_id}
      and key = ${named}
      -- Met far above, it is of a page that came in place of another.
      and position >= (
        select max(position) from etl.ranking_entries where walk_id = ${walk_id}
      ) - (${lastItems({ walk_id })})
  )`;
}

/** As SQL: how many items the last page of a walk has. */
const lastItems = ({ walk_id }: Pick<WalkContext, 'walk_id'>): SQL =>
  sql`select items from etl.pages where walk_id = ${walk_id} order by sequence desc limit 1`;

/** As SQL: the walks of a run whose items count: one that failed may have read another list. */
const countsFor = ({ run_id, walk_id }: WalkContext): SQL =>
  sql`run_id = ${run_id} and (walk_id = ${walk_id} or walks.state = 'finished')`;

/**
 * As SQL: two CTEs of what the walks of a run met, each item as the latest of them saw it: all of it, and what is
 * ranked. If rows moved to the last, one that had no rank and that a single walk met is not: it may be foreign.
 */
function observed(list: RankedOperation, walk: WalkContext, moved: boolean): SQL {
  const { table, key, total } = namesOf(list);
  return sql`met as materialized (
    select distinct on (key) key, walk_id, as_of, position, total,
           count(*) over (partition by key) as times
    from etl.ranking_entries
    join etl.walks on walks.id = walk_id
    where ${countsFor(walk)}
    order by key, walk_id desc
  ), observation as materialized (
    select met.*, item.${total} as known_total
    from met
    join ${table} as item on item.chain_id = ${walk.chain_id} and item.${key} = met.key
    where not ${moved} or times > 1 or rank is not null
  )`;
}

/** As SQL: the position that a token names, as the service parses it. */
const positionOf = (cursor: 'cursor_in' | 'cursor_out') =>
  sql`lower(substring(${sql.raw(cursor)} ->> 'page_token' from '^\\d+,0x[0-9a-fA-F]{40}'))`;

function skipsPart(list: RankedOperation, walk: WalkContext): SQL {
  const { table, key } = namesOf(list);
  return sql`exists (
    select from etl.pages
    where walk_id = ${walk.walk_id} and items = 0 and cursor_out is not null
      and (${positionOf('cursor_in')} = ${positionOf('cursor_out')}) is not true
  ) and (
    select coalesce(bool_or(entry.key is null), true)
    from ${table} as item
    left join etl.ranking_entries as entry
      on entry.walk_id = ${walk.walk_id} and entry.key = item.${key}
    where chain_id = ${walk.chain_id} and rank is not null
  )`;
}

/**
 * By total, then as listed. Items that no walk met are missing, if none is in quarantine. A missing
 * total is no change: the known one stays, and history would keep it for good. What the walks of other runs met is never published.
 */
async function publish(
  list: RankedOperation,
  tx: Transaction,
  walk: WalkContext,
  { walks, moved, has_quarantined }: Conclusion,
): Promise<void> {
  const { chain_id, page_id, walk_id, feed, as_of } = walk;
  const { table, history, key, total } = namesOf(list);
  await tx.execute(sql`
    with ${observed(list, walk, moved)}, judged as (
      select item.${key} as key, ranked.rank,
             case
               when ranked.rank is not null then null
               when ${has_quarantined} or met.key is not null then item.missing_since
               else coalesce(item.missing_since, now())
             end as missing_since
      from ${table} as item
      left join (
        select key, row_number() over (
          order by coalesce(total, known_total) desc nulls last, walk_id desc, position
        ) as rank
        from observation
      ) as ranked on ranked.key = item.${key}
      left join met on met.key = item.${key}
      where item.chain_id = ${chain_id}
    ), placed as (
      update ${table} as t
      set rank = judged.rank,
          missing_since = judged.missing_since,
          updated_at = ${sql.raw(changeTime)},
          page_id = greatest(t.page_id, ${page_id}::bigint)
      from judged
      where t.chain_id = ${chain_id}
        and t.${key} = judged.key
        and (t.rank, t.missing_since) is distinct from (judged.rank, judged.missing_since)
    ), changed as (
      insert into ${history} (
        chain_id, ${key}, observed_at, ${total}, page_id, first_seen_at, updated_at
      )
      select ${chain_id}::bigint, key, now(), observation.total, ${page_id}::bigint,
             ${sql.raw(changeTime)}, ${sql.raw(changeTime)}
      from observation
      where total is not null and total is distinct from (
        select last.${total} from ${history} as last
        where last.chain_id = ${chain_id} and last.${key} = observation.key
        order by observed_at desc
        limit 1
      )
      order by key
    ), published as (
      insert into etl.rankings (walk_id, feed, as_of, published_at, items, walks, still_moving)
      select ${walk_id}::bigint, ${feed}, coalesce(min(as_of), ${as_of}::timestamptz),
             now(), count(*), ${walks}::int, ${moved}
      from observation
    )
    delete from etl.ranking_entries
    where (select walks.feed from etl.walks where walks.id = walk_id) = ${feed}
  `);
}

/**
 * An end is contradicted if so many more of the lowest items are unmet than met. If a quarter is missed, chance brings as
 * many in one ranking of 60,000, and a false contradiction would hold the feed up.
 */
const cutAtLeast = 10;

const heldShape = () =>
  z.object({
    /** The newest ranking, or the walk before this one in the same run. */
    list: z.enum(['ranking', 'walk']),
    /** When the ranking's oldest walk began; null: a walk. */
    as_of: z.string().nullable(),
    known: z.number(),
    unmet: z.number(),
    /** By how many the unmet exceed the met among its lowest items, at the maximum. */
    cut: z.number(),
    /** Whether it has an end (a failed walk has none) and contains the page's last item. */
    has_last: z.boolean(),
    /** What the walk met, and what it has in quarantine. */
    met: z.number(),
    quarantined: z.number(),
    /** How many walks of the run ended as truncated, and how many rankings were published, `walksAtMost` at most. */
    refused: z.number(),
    published: z.number(),
  });
type Held = z.infer<ReturnType<typeof heldShape>>;

/**
 * Whether the list is another one than the ranking, and no part of it: it has as many new items as the ranking has
 * unmet ones, or mostly new items. Walks of one run must repeat it, one for each published ranking, three at most.
 */
function isReplaced({ list, known, unmet, met, refused, published }: Held): boolean {
  const added = met - (known - unmet);
  const isAnother = added >= unmet || 2 * added > met;
  return list === 'ranking' && isAnother && refused >= published;
}

/**
 * An earlier list supports the end if all of it was met, and contradicts it if its bottom or all of it is missing, unless it
 * was another list. As many as are in quarantine may be the missing ones.
 */
export async function judgeRankingEnd(
  list: RankedOperation,
  db: Queryable,
  claim: EndClaim,
): Promise<EndVerdict> {
  const held = await execute(db).rows(heldShape)`${holdAgainstKnown(list, claim)}`;
  const contradiction = held.find(
    (one) =>
      (one.cut - one.quarantined >= cutAtLeast || (one.met === 0 && one.unmet > one.quarantined)) &&
      !isReplaced(one),
  );
  if (contradiction !== undefined) {
    // A missing item may have moved: an empty answer at its position shows nothing.
    return { is: 'contradicted', evidence: evidenceOf(list, contradiction), question: null };
  }
  // An item that an earlier walk of the run missed too has left the list and is no evidence.
  const judge = held.find((reading) => reading.list === 'walk') ?? held[0];
  const isConfirmed = judge !== undefined && judge.unmet <= judge.quarantined && judge.has_last;
  return { is: isConfirmed ? 'supported' : 'unsupported' };
}

function evidenceOf(
  { guide: { items } }: RankedOperation,
  { list, as_of, known, unmet, met }: Held,
) {
  const before =
    list === 'ranking' ? `the ranking of ${as_of ?? 'before'} held` : 'the walk before met';
  return `ends after ${met} ${items}, where ${before} ${known}, ${unmet} of them not met`;
}

/** As SQL: an earlier list a row, as `Held`; no row without one. */
const holdAgainstKnown = (
  list: RankedOperation,
  { walk_id, run_id, chain_id, feed, rows, quarantined }: EndClaim,
) => sql`
  with met as materialized (
    select key from etl.ranking_entries where walk_id = ${walk_id}
    union
    select unnest(${sql.param(rows.map(({ key }) => key))}::text[])
  ), known as (
    select 'ranking' as list, ${namesOf(list).key} as key, rank as place, true as has_end
    from ${namesOf(list).table}
    where chain_id = ${chain_id} and rank is not null
    union all
    select 'walk', key, position, has_end
    from etl.ranking_entries join (
      -- The cursor of an empty last page names an item, so such an end is no evidence.
      select id, state = 'finished' and not exists (
        select from etl.pages where walk_id = walks.id and items = 0 and cursor_out is null
      ) as has_end
      from etl.walks
      where run_id = ${run_id} and id <> ${walk_id} order by id desc limit 1
    ) as walk on walk_id = walk.id
  ), judged as (
    select list, has_end, known.key, met.key is not null as is_met,
           sum(case when met.key is null then 1 else -1 end)
             over (partition by list order by place desc) as cut
    from known
    left join met on met.key = known.key
  )
  select list, count(*)::int as known, (count(*) filter (where not is_met))::int as unmet,
         max(cut)::int as cut,
         coalesce(bool_or(has_end and key = ${rows.at(-1)?.key ?? null}::text), false) as has_last,
         case when list = 'ranking' then (
           select to_char(as_of at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
           from etl.rankings where feed = ${feed} order by walk_id desc limit 1
         ) end as as_of,
         (select count(*)::int from met) as met,
         (
           select coalesce(sum(quarantined), 0)::int + ${quarantined}::int
           from etl.pages where walk_id = ${walk_id}
         ) as quarantined,
         (
           select count(*)::int from etl.walks where run_id = ${run_id} and failure = 'truncated'
         ) as refused,
         greatest(1, (
           select count(*)::int from (select from etl.rankings where feed = ${feed} limit ${walksAtMost}) as known
         )) as published
  from judged
  group by list
  order by list
`;
