import { sql } from 'drizzle-orm';
import { z } from 'zod';
import type { Database, Transaction } from '../../db/transaction.ts';
import type { Configured } from '../define.ts';
import { type Feed, ofFeed } from '../feed.ts';
import {
  about,
  atLeast,
  type Estimate,
  type ListCoverage,
  type ListKind,
  type ListReach,
  none,
  type PlannedWalk,
  type RunOf,
} from '../list.ts';
import type { RankedWalk } from '../operation.ts';
import { listEmpty, partSkipped, rowsMoved } from '../ranking.ts';
import { freshness, schedule, timezone } from '../settings.ts';

async function hasSucceeded(db: Database, feed: Feed): Promise<boolean> {
  const { rows } = await db.execute(sql`
    select from etl.feeds where ${ofFeed(feed)} and last_success_at is not null
  `);
  return rows.length > 0;
}

async function needsRanking(db: Database, feed: Feed): Promise<boolean> {
  const { rows } = await db.execute(sql`
    select from etl.feeds where ${ofFeed(feed)} and not ${proof.shows}
  `);
  return rows.length > 0;
}

/** What a run of a ranked list covers: the whole list, or so many of its pages. */
export type RankedScope = { readonly max_pages?: number };

/**
 * A ranking's next walk: the whole list once, and again while the last walk ended because rows moved.
 * The operation bounds how often that is: its last walk ends published. Again, too, where one was cut short:
 * what it lacks may have been left out above, so that its end would never be right. Rests bound how often.
 */
async function planRankedWalk(
  tx: Transaction,
  run: RunOf<RankedScope>,
): Promise<PlannedWalk<RankedWalk> | null> {
  const { rows } = await tx.execute<{ again: boolean }>(sql`
    select (state = 'finished' and reason is not distinct from ${rowsMoved})
             or (state = 'failed' and failure is not distinct from 'truncated') as again
    from etl.walks
    where run_id = ${run.id}
    order by id desc
    limit 1
  `);
  if (rows[0]?.again === false) return null;
  await forgetOthers(tx, run);
  const { max_pages } = run.scope;
  return { scope: max_pages === undefined ? {} : { max_pages }, floor: null, cursor: null };
}

/** What walks of other runs met will never be published: those runs failed or were superseded. */
async function forgetOthers(tx: Transaction, run: RunOf<RankedScope>): Promise<void> {
  await tx.execute(sql`
    delete from etl.ranking_entries
    where (
      select ${ofFeed(run)} and run_id <> ${run.id} from etl.walks where walks.id = walk_id
    )
  `);
}

/** Keys of a ranked list; parsing `{}` gives the defaults. */
export const rankedSettings = ({ guide, defaults }: Configured) =>
  z
    .strictObject({
      schedule: schedule(
        defaults.schedule,
        `Each time reads the whole list: one page of 20 credits for every 50 ${guide.items}.`,
      ),
      timezone,
      freshness,
    })
    .describe(guide.about);

export type RankedSettings = z.output<ReturnType<typeof rankedSettings>>;

/** The first ranking, where none was published. Its length is known at its end. */
export const rankingHistory = ({ requests }: RankingFacts): Estimate =>
  requests === null ? atLeast(1) : none;

/** What the rankings of a day take. */
export const rankingUpkeep = ({ requests }: RankingFacts, pollsPerDay: number): Estimate =>
  requests === null ? atLeast(pollsPerDay) : about(pollsPerDay * requests);

/** What is known of a ranking. */
export interface RankingFacts {
  /** Requests of the last finished ones, on average; null before the first. */
  readonly requests: number | null;
}

/** Before the first ranking. */
const nothingKnown: RankingFacts = { requests: null };

/** How many of the last rankings make the average. */
const lastRankings = 10;

/** As SQL, over a row of `feeds`: what its last rankings took. */
const facts = sql`(
  select json_build_object('requests', avg(pages))
  from (
    select (select sum(pages) from etl.walks where walks.run_id = runs.id) as pages
    from etl.runs
    where runs.feed = feeds.feed and state = 'finished' and exists (
      select from etl.walks
      where walks.run_id = runs.id
        and walks.state = 'finished'
        and walks.reason is distinct from 'max-pages'
    )
    order by id desc
    limit ${lastRankings}
  ) as ranking
)`;

/** The newest ranking of a feed, a row of `feeds`. */
const newestRanking = sql`
  select rankings.*, started_at
  from etl.rankings
  join etl.walks on walks.id = walk_id
  where rankings.feed = feeds.feed
  order by walk_id desc
  limit 1
`;

/**
 * What the newest ranking verifies of a feed, a row of `feeds`, as ranks: a JSON list; as SQL. An item in
 * quarantine can have any rank, and moves those below it.
 */
const rankedItems = sql`
  select json_agg(
    json_build_object(
      'from', 1, 'to', items, 'as_of', as_of, 'newest_as_of', coalesce(started_at, as_of)
    )
  )
  from (${newestRanking}) as newest
  where items > 0
    and not exists (select from etl.quarantined where quarantined.feed = feeds.feed)
`;

/** What is to be known of the newest ranking of a feed, a row of `feeds`: a JSON list; as SQL. */
const rankingNotes = sql`
  select jsonb_agg(note) from (
    select jsonb_build_object('detail', 'rows-moved', 'count', walks) as note
    from (${newestRanking}) as newest
    where still_moving
    union all
    select jsonb_build_object(
      'detail', case reason when ${listEmpty} then 'empty-list' else 'part-skipped' end
    )
    from (
      select reason from etl.walks
      where walks.feed = feeds.feed
      order by id desc
      limit 1
    ) as last
    where reason in (${listEmpty}, ${partSkipped})
  ) as notes
`;

/** A ranked list is verified by a ranking: one pass over all of it that was finished. */
const proof: ListCoverage = {
  shows: sql`exists (${newestRanking})`,
  lacks: 'no-snapshot',
  by: 'census',
  covered: rankedItems,
  notes: rankingNotes,
  findings: sql`
    select null::text as feed, null::jsonb as finding where false
  `,
  readsAgain: sql`later.reason is null`,
};

/** How many the newest ranking ranked, and when it was read. */
const status: ListReach = {
  progress: sql`'{}'::json`,
  verified: sql`
    select coalesce((
             select items from etl.rankings
             where rankings.feed = feeds.feed
             order by walk_id desc
             limit 1
           ), 0) as positions,
           0 as gaps, 0 as missing, max(started_at) as snapshot_at
    from etl.walks
    where walks.feed = feeds.feed and state = 'finished' and reason is null
  `,
  newestTimes: null,
};

/** A list that is ranked by something that changes: every walk reads all of it. */
export const ranked: ListKind<RankedSettings, RankedScope, RankedWalk, RankingFacts> = {
  name: 'ranked',
  settings: rankedSettings,
  bounds: ['maxPages'],
  hasHistory: false,
  canReadAgain: false,
  lanes: (_settings, { maxPages }) => [
    { lane: 'backfill', scope: maxPages === undefined ? {} : { max_pages: maxPages } },
  ],
  extended: (settings) => settings,
  isBounded: () => false,
  target: () => null,
  walkScope: () => ({}),
  atOnce: ({ scope }) => scope,
  // On start it waits for its schedule, unless it never succeeded.
  isDue: async (db, { lane }, occasion) => occasion !== 'start' || !(await hasSucceeded(db, lane)),
  walksAtOnce: async () => 1,
  noteTarget: async () => undefined,
  reconcileTarget: async () => undefined,
  // What it lacks may have been left out above, so that its end would never be right.
  beginsAnew: (failure) => failure === 'truncated',
  nextWalk: (tx, run) => planRankedWalk(tx, run),
  coverage: proof,
  // Each is an observation of the whole list, and there are few.
  isPrunable: () => sql`false`,
  covers: () => 'ranks',
  status,
  ribbon: null,
  facts,
  estimate: (known, _settings, { pollsPerDay }) => ({
    history: rankingHistory(known ?? nothingKnown),
    upkeep: rankingUpkeep(known ?? nothingKnown, pollsPerDay),
  }),
  repairs: async (db, { lane, scope }) => ((await needsRanking(db, lane)) ? [scope] : []),
  repairRequests: async (_db, _feed, history) => history,
  examples: { sync: null, backfill: null },
};
