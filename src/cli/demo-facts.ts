import type { DemoDocument } from '../documents/demo.ts';
import { creditsPerRequest } from '../explorer/slot.ts';
import type { OpenDatabase } from '../open-database.ts';
import { laneCounts } from '../report/progress.ts';
import type { Resumption } from '../report/resumption.ts';
import { findingText } from '../status/findings.ts';
import { verifyFeeds } from '../status/verify.ts';
import type { DemoRun } from './demo-run.ts';

/** What a free plan has for a day, in credits (docs/api-costs.md). */
const freeDayCredits = 100_000;

type FeedFacts = DemoDocument['feeds'][number];
export type KillFacts = NonNullable<DemoDocument['kill']>;

/** What there is of each feed, and whether it is verified complete. */
export async function feedFacts(
  { db }: OpenDatabase,
  feeds: readonly string[],
): Promise<FeedFacts[]> {
  const counts = await laneCounts(db, feeds);
  const verified = await verifyFeeds(db);
  return feeds
    .flatMap((feed) => verified.find((one) => one.feed === feed) ?? [])
    .map(({ feed, chain_id, operation, unit, covered, open }) => {
      const lanes = counts.filter((lane) => lane.feed === feed);
      const sum = (of: 'rows' | 'pages' | 'credits') =>
        lanes.reduce((total, lane) => total + lane[of], 0);
      const isComplete = open.length === 0 && covered.length > 0;
      return {
        feed,
        chain_id,
        operation,
        rows: sum('rows'),
        pages: sum('pages'),
        credits: sum('credits'),
        state: isComplete ? 'complete' : 'open',
        evidence: unit === 'ranks' ? 'census' : 'proof',
        open: open.map(findingText),
      };
    });
}

/** The kill in numbers: those of one walk of the feed that was watched, and what holds for all of them. */
export function killFacts({ kill, resumption }: DemoRun, feed: string, again: number): KillFacts {
  const walk = shownWalk(resumption, feed);
  return {
    pid: kill.pid,
    is_real: kill.isReal,
    feed: walk?.feed ?? null,
    killed_at_page: walk?.stopped_at ?? null,
    resumed_at_page: walk?.resumed_at ?? null,
    walks: resumption.walks.length,
    pages_lost: resumption.lost,
    pages_stored_twice: resumption.twice,
    requests_again: again,
  };
}

/** The one of the feed that was longest under way and went on; where none did, any. */
function shownWalk({ walks }: Resumption, feed: string) {
  const wentOn = walks.filter(({ resumed_at }) => resumed_at !== null);
  return wentOn.find((walk) => walk.feed === feed) ?? wentOn[0] ?? walks[0];
}

/** Whether a worker was killed, and the next one went on exactly where it had stopped. */
export const isKillClean = (facts: KillFacts | null): boolean =>
  facts !== null &&
  facts.is_real &&
  facts.killed_at_page !== null &&
  facts.resumed_at_page === facts.killed_at_page + 1 &&
  facts.pages_lost === 0 &&
  facts.pages_stored_twice === 0;

/** What the demo took. */
export function totalFacts(
  rows: number,
  requests: number,
  seconds: number,
): DemoDocument['totals'] {
  const credits = requests * creditsPerRequest;
  return { rows, requests, credits, free_day_share: credits / freeDayCredits, seconds };
}

/** Which share of operations failed in the last 30 days, by entry point; the most used one first. */
export async function failedOperations({
  pool,
}: OpenDatabase): Promise<DemoDocument['failed_operations']> {
  const { rows } = await pool.query<{ answer: DemoDocument['failed_operations'][number] }>(`
    with part as (
      select part, entry_point_version,
             sum(operations) as operations, sum(failed) as failed
      from generate_series(0, 9) as part
      join explorer.operations_daily
        on day >= current_date - 29 + 3 * part and day < current_date - 26 + 3 * part
      where entry_point_version is not null
      group by part, entry_point_version
    ), version as (
      select entry_point_version, sum(operations) as operations, sum(failed) as failed
      from part
      group by entry_point_version
    )
    select json_build_object(
      'entry_point_version', entry_point_version,
      'operations', operations,
      'share', failed / operations,
      'shares', (
        select json_agg(part.failed / part.operations order by n)
        from generate_series(0, 9) as n
        left join part on part = n and part.entry_point_version = version.entry_point_version
      )
    ) as answer
    from version
    order by operations desc, entry_point_version`);
  return rows.map(({ answer }) => answer);
}
