import { sql } from 'drizzle-orm';
import { hasRows, valueOf } from '../../db/query.ts';
import type { Transaction } from '../../db/transaction.ts';
import { ofFeed } from '../feed.ts';
import type { ListKind, PlannedWalk, RunOf } from '../list.ts';
import type { RankedWalk } from '../operation.ts';
import { concludeRanking, judgeRankingEnd, listOf, noteRankingPage, rowsMoved } from './ranking.ts';
import { rankedStatus, type RankedSettings } from './status.ts';

/** A run and its walks read the whole list, or so many of its pages. */
type RankedScope = { readonly max_pages?: number };

/** Reads the whole list once, and again if the last walk was truncated or met moved rows. */
async function planRankedWalk(
  tx: Transaction,
  run: RunOf<RankedScope>,
): Promise<PlannedWalk<RankedWalk> | null> {
  const isAgain = await valueOf<boolean>(
    tx,
    sql`
      select (state = 'finished' and reason is not distinct from ${rowsMoved})
               or (state = 'failed' and failure is not distinct from 'truncated') as again
      from etl.walks
      where run_id = ${run.id}
      order by id desc
      limit 1
    `,
  );
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

/** A list whose order changes: every walk reads all of it. */
export const ranked: ListKind<RankedSettings, RankedScope, RankedWalk> = {
  hasHistory: false,
  canReadAgain: false,
  lanes: (_settings, { maxPages }) => [
    { lane: 'backfill', scope: maxPages === undefined ? {} : { max_pages: maxPages } },
  ],
  extended: (settings) => settings,
  target: () => null,
  walkScope: () => ({}),
  // On start it waits for its schedule, unless it never succeeded.
  async isDue(db, { lane }, occasion) {
    if (occasion !== 'start') return true;
    const succeeded = sql`${ofFeed(lane)} and last_success_at is not null`;
    return !(await hasRows(db, sql`select from etl.feeds where ${succeeded}`));
  },
  walksAtOnce: async () => 1,
  noteTarget: async () => undefined,
  reconcileTarget: async () => undefined,
  nextWalk: planRankedWalk,
  sqlNames: ({ name }) => ({ name }),
  async repairs(db, { lane, scope }) {
    const unverified = sql`select from etl.feeds where ${ofFeed(lane)} and not ${rankedStatus.coverage.shows}`;
    return (await hasRows(db, unverified)) ? [scope] : [];
  },
  repairRequests: async (_db, _feed, history) => history,
  decidesMembership: false,
  isReplayable: false,
  judgeEnd: (operation, db, claim) => judgeRankingEnd(listOf(operation), db, claim),
  informative: (_operation, _tx, pages) =>
    Promise.resolve(new Set(pages.map(({ walk }) => walk.page_id))),
  afterPage: (operation, tx, walk, rows) => noteRankingPage(listOf(operation), tx, walk, rows),
  afterWalk: (operation, tx, walk) => concludeRanking(listOf(operation), tx, walk),
};
