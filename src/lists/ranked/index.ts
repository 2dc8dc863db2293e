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
import type { RankedOperation, RankedWalk } from '../operation.ts';
import { noteRankingPage } from './entries.ts';
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
