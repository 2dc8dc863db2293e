import { sql } from 'drizzle-orm';
import { z } from 'zod';
import { execute, type Transaction } from '../../db/transaction.ts';
import { ofFeed } from '../feed.ts';
import {
  about,
  atLeast,
  type ListKind,
  none,
  noneRefuted,
  type PlannedWalk,
  polling,
  type RunOf,
} from '../list.ts';
import type { PageInWalk, RankedOperation, RankedWalk } from '../operation.ts';
import { concludeRanking, judgeRankingEnd, rowsMoved } from './ranking.ts';

/** Reads the whole list, or so many of its pages, once, and again if the last walk was truncated or met moved rows. */
async function planRankedWalk(
  tx: Transaction,
  run: RunOf<RankedWalk>,
): Promise<PlannedWalk<RankedWalk> | null> {
  const isAgain = await execute(tx).value(z.boolean)`
    select (state = 'finished' and reason is not distinct from ${rowsMoved})
             or (state = 'failed' and failure is not distinct from 'truncated') as again
    from etl.walks
    where run_id = ${run.id}
    order by id desc
    limit 1
  `;
  if (isAgain === false) return null;
  // Other runs failed or were superseded: what their walks met is never published.
  await tx.execute(sql`
    delete from etl.ranking_entries
    where (
      select ${ofFeed(run)} and run_id <> ${run.id} from etl.walks where walks.id = walk_id
    )
  `);
  return { scope: run.scope, floor: null, cursor: null };
}

/**
 * Notes what a page saw, and whether rows moved: an item met before, a higher total than above, or another first item than the
 * cursor names. Some services repeat the last item, or name it in the cursor: that is no sign.
 */
async function noteRankingPage(
  list: RankedOperation,
  tx: Transaction,
  { walk, rows, isTopRead }: PageInWalk,
): Promise<void> {
  const { cursor } = walk;
  const { position: positionAt, total } = list.ranking;
  const named = cursor === null || !isTopRead ? null : (positionAt(cursor)?.key ?? null);
  const entries = rows.map(({ key, row, position }, index) => ({
    key,
    total: row[total],
    position,
    is_other: index === 0 && named !== null && key !== named,
  }));
  await tx.execute(sql`
    with page as (
      select *
      from json_to_recordset(${JSON.stringify(entries)}::json)
        as entry(key text, position bigint, total bigint, is_other boolean)
    ), last as (
      select key, position, total
      from etl.ranking_entries
      where walk_id = ${walk.walk_id}
      order by position desc
      limit 1
    )
    insert into etl.ranking_entries (walk_id, key, position, total, has_moved)
    select ${walk.walk_id}::bigint, page.key, page.position, page.total,
           page.is_other and last.key is distinct from ${named} or coalesce(
             page.total
               > lag(page.total, 1, last.total) over (order by page.position),
             false
           ) or (
             met.walk_id is not null
             and (
               met.position < last.position
               or met.total is distinct from page.total
             )
           )
    from page
    left join last on true
    left join etl.ranking_entries as met
      on met.walk_id = ${walk.walk_id} and met.key = page.key
    on conflict (walk_id, key) do update
    set position = excluded.position,
        total = excluded.total,
        has_moved = ranking_entries.has_moved or excluded.has_moved
  `);
}

const rankedSettings = ({ guide, defaults }: RankedOperation) =>
  z
    .strictObject(
      polling(
        defaults,
        `Each time reads the whole list: one page of 20 credits for every 50 ${guide.items}.`,
      ),
    )
    .describe(guide.about);

type RankedSettings = z.output<ReturnType<typeof rankedSettings>>;

/** `requests` is what the last finished rankings took, on average; null before the first. */
type RankingFacts = { readonly requests: number | null };

/** A list whose order changes: every walk reads all of it. */
export const rankedKind = (
  list: RankedOperation,
): ListKind<RankedSettings, RankedWalk, RankedWalk, RankingFacts> => ({
  verifies: 'ranks',
  settings: rankedSettings(list),
  bounds: ['maxPages'],
  lanes: (_settings, { maxPages }) => [
    { lane: 'backfill', scope: maxPages === undefined ? {} : { max_pages: maxPages } },
  ],
  facts: sql`(select facts from etl.ranking_facts where ranking_facts.feed = feeds.feed)`,
  estimate(known, _settings, { pollsPerDay }) {
    const requests = known?.requests ?? null;
    // Only the end of a ranking shows its length.
    return requests === null
      ? { history: atLeast(1), upkeep: atLeast(pollsPerDay) }
      : { history: none, upkeep: about(pollsPerDay * requests) };
  },
  // On start it waits for its schedule, unless none was published yet.
  isDue: async (db, { lane }, occasion) =>
    occasion !== 'start' ||
    !(await execute(db).has`select from etl.rankings where ${ofFeed(lane)}`),
  walksAtOnce: async () => 1,
  noteTarget: async () => undefined,
  nextWalk: planRankedWalk,
  sample: () => ({}),
  async repairs(db, { lane, scope }) {
    const unverified = sql`${ofFeed(lane)} and not is_verified`;
    return (await execute(db).has`select from etl.verification where ${unverified}`) ? [scope] : [];
  },
  repairRequests: async (_db, _feed, { history }) => history,
  judgeEnd: (db, claim) => judgeRankingEnd(list, db, claim),
  async writePages(tx, pages, load) {
    await load();
    for (const page of pages) await noteRankingPage(list, tx, page);
    return noneRefuted;
  },
  afterWalk: (tx, walk) => concludeRanking(list, tx, walk),
});
