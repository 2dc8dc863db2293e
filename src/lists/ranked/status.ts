import { sql } from 'drizzle-orm';
import { z } from 'zod';
import {
  about,
  atLeast,
  type KindStatus,
  type ListCoverage,
  type ListReach,
  none,
} from '../list.ts';
import type { Configured } from '../operation.ts';
import { polling } from '../settings.ts';
import { listEmpty, partSkipped } from './ranking.ts';

const lastRankings = 10;

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

const newestRanking = sql`
  select rankings.*, started_at
  from etl.rankings
  join etl.walks on walks.id = walk_id
  where rankings.feed = feeds.feed
  order by walk_id desc
  limit 1
`;

/** The ranks that the newest ranking verifies: an item in quarantine can have any rank. */
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

const coverage: ListCoverage = {
  shows: sql`exists (${newestRanking})`,
  lacks: 'no-snapshot',
  by: 'snapshot',
  covered: rankedItems,
  notes: rankingNotes,
  findings: sql`
    select null::text as feed, null::jsonb as finding where false
  `,
  readsAgain: sql`later.reason is null`,
};

const reach: ListReach = {
  progress: sql`null::json`,
  verified: sql`
    select coalesce((select items from (${newestRanking}) as newest), 0) as positions,
           0 as gaps, 0 as missing, null::jsonb as batches
  `,
  newestTimes: null,
};

const rankedSettings = ({ guide, defaults }: Configured) =>
  z
    .strictObject({
      ...polling(
        defaults,
        `Each time reads the whole list: one page of 20 credits for every 50 ${guide.items}.`,
      ),
    })
    .describe(guide.about);

export type RankedSettings = z.output<ReturnType<typeof rankedSettings>>;

/** `requests` is what the last finished rankings took, on average; null before the first. */
type RankingFacts = { readonly requests: number | null };

export const rankedStatus: KindStatus<RankedSettings, RankingFacts> = {
  name: 'ranked',
  coverage,
  // Each is an observation of the whole list, and there are few.
  isPrunable: () => sql`false`,
  covers: () => 'ranks',
  reach,
  ribbon: null,
  facts,
  settings: rankedSettings,
  bounds: ['maxPages'],
  isBounded: () => false,
  estimate(known, _settings, { pollsPerDay }) {
    const requests = known?.requests ?? null;
    // How long a ranking is shows at its end.
    return requests === null
      ? { history: atLeast(1), upkeep: atLeast(pollsPerDay) }
      : { history: none, upkeep: about(pollsPerDay * requests) };
  },
  examples: { sync: null, backfill: null },
};
