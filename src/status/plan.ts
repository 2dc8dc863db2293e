import { sql } from 'drizzle-orm';
import { z } from 'zod';
import type { Settings } from '../config/settings.ts';
import { type Database, execute } from '../db/transaction.ts';
import { creditsPerRequest } from '../explorer/budget.ts';
import { type Feed, feedName } from '../lists/feed.ts';
import { byKind, isBounded } from '../lists/index.ts';
import { type Estimate, estimate, type Estimates } from '../lists/list.ts';
import { feedsIn, withTargets } from '../sync/feeds.ts';
import { estimateOf, type ForecastOptions, sum, sumKnown } from './estimate.ts';
import { amount, amountOrNull, isoTime } from './schema.ts';

const cost = { requests: estimate, credits: estimate };

const seconds = z
  .strictObject({ likely: amountOrNull, most: amountOrNull })
  .describe('At the configured rate and daily credits. Null: unknown, or never.');

const target = z
  .strictObject({
    since: z.string().nullable(),
    from_batch: amountOrNull,
    to_batch: amountOrNull,
    named_by: z.enum(['file', 'command']).nullable().describe('Null: the whole list is wanted.'),
  })
  .describe('The part of the list that is wanted.');

export const planDocument = z.strictObject({
  schema: z.literal('explorer-etl/plan/2'),
  as_of: isoTime,
  rate: z.strictObject({
    requests_per_second: amount,
    daily_credits: amountOrNull.describe('Null: no limit is configured.'),
    credits_per_request: amount,
  }),
  spent_today: amount.describe('Credits of this day (UTC) so far.'),
  feeds: z.array(
    z.strictObject({
      feed: z.string(),
      chain_id: z.int(),
      operation: z.string(),
      target,
      history: z.strictObject({ ...cost, seconds }).describe('What is left to download, once.'),
      polls: z.strictObject(cost).describe('A day of polls.'),
    }),
  ),
  history: z
    .strictObject({
      ...cost,
      seconds,
      seconds_beside_polls: seconds,
      unknown: z.array(z.string()).describe('Feeds of unknown size; they are in no sum.'),
    })
    .describe('What is left of every feed of known size.'),
  polls: z
    .strictObject({
      ...cost,
      fits: z
        .boolean()
        .nullable()
        .describe('Whether a day of polls fits the rate and the daily credits. Null: unknown.'),
    })
    .describe('A day of polls of every feed.'),
});

export type PlanDocument = z.infer<typeof planDocument>;

/** A feed's target, what is left of its history, and the cost of a day. */
export interface FeedPlan extends Feed, Estimates {
  readonly feed: string;
  readonly target: z.infer<typeof target>;
}

/** The cost of every configured feed down to its target; `db` null: no tables yet. */
export async function planFeeds(
  db: Database | null,
  settings: Pick<Settings, 'configFile' | 'chains'>,
  options: ForecastOptions,
): Promise<FeedPlan[]> {
  const wanted = db === null ? settings.chains : await withTargets(db, settings);
  const feeds = feedsIn(wanted).map(({ chain: { id: chain_id }, ...own }) => ({
    feed: feedName({ chain_id, ...own }),
    chain_id,
    ...own,
  }));
  const stored = db === null ? null : await readFacts(db, feeds);
  return feeds.map(({ settings: own, ...feed }) => {
    const { operation } = feed;
    const { facts = null, is_of_command = false } = stored?.get(feed.feed) ?? {};
    const isOfFile = settings.configFile !== null || !is_of_command;
    const named_by = !isBounded(operation, own) ? null : isOfFile ? 'file' : 'command';
    const estimates = estimateOf({ operation, settings: own, facts }, options);
    return { ...feed, ...estimates, target: { ...boundsOf({ ...own }), named_by } };
  });
}

/** What the kinds of these feeds estimate by, in one statement. */
async function readFacts(db: Database, wanted: readonly object[]) {
  const rows = await execute(db).rows(() =>
    z.object({
      feed: z.string(),
      facts: z.unknown(),
      /** Whether a command's bounds are its target. */
      is_of_command: z.boolean(),
    }),
  )`/* estimates */
    select feed, ${byKind(({ facts }) => sql`${facts}::json`)} as facts, is_of_command
    from (
      select known.chain_id, known.operation, feed, known.kind, known.latest_batch, wanted.settings,
             target is not null as is_of_command
      from json_to_recordset(${JSON.stringify(wanted)}::json) as wanted(feed text, settings jsonb)
      join etl.feeds as known using (feed)
    ) as feeds
  `;
  return new Map(rows.map((row) => [row.feed, row]));
}

const boundsOf = ({ since, fromBatch, toBatch }: Readonly<Record<string, unknown>>) => ({
  since: typeof since === 'string' ? since : null,
  from_batch: typeof fromBatch === 'number' ? fromBatch : null,
  to_batch: typeof toBatch === 'number' ? toBatch : null,
});

/** The plan's time, and today's requests so far. */
interface Now {
  readonly at: Date;
  readonly spentToday: number;
}

/** The feeds' cost in requests, credits and time. Pure. */
export function planOf(
  feeds: readonly FeedPlan[],
  limits: Pick<Settings['explorer'], 'requestsPerSecond' | 'dailyCredits'>,
  now: Now,
): PlanDocument {
  const { requestsPerSecond: perSecond, dailyCredits } = limits;
  const perDay = dailyCredits === null ? Infinity : Math.floor(dailyCredits / creditsPerRequest);
  const timeFor = (requests: Estimate, pace = { perSecond, perDay }) => ({
    likely: secondsFor(requests.likely, pace, now),
    most: secondsFor(requests.most, pace, now),
  });
  const known = feeds.filter(({ history }) => history.most !== null);
  const history = sumOf(known.map((feed) => feed.history));
  const polls = sumOf(feeds.map(({ upkeep }) => upkeep));
  const pollsKnown = sum(feeds.map(({ upkeep }) => upkeep.most ?? upkeep.least));
  const fits = pollsKnown <= Math.min(perDay, perSecond * daySeconds);
  return {
    schema: 'explorer-etl/plan/2',
    as_of: now.at.toISOString(),
    rate: {
      requests_per_second: perSecond,
      daily_credits: dailyCredits,
      credits_per_request: creditsPerRequest,
    },
    spent_today: now.spentToday * creditsPerRequest,
    feeds: feeds.map(({ history: left, upkeep, ...feed }) => ({
      ...feed,
      history: { ...costOf(left), seconds: timeFor(left) },
      polls: costOf(upkeep),
    })),
    history: {
      ...costOf(history),
      seconds: timeFor(history),
      seconds_beside_polls: timeFor(history, {
        perSecond: perSecond - pollsKnown / daySeconds,
        perDay: perDay - pollsKnown,
      }),
      unknown: feeds.filter((feed) => !known.includes(feed)).map(({ feed }) => feed),
    },
    polls: { ...costOf(polls), fits: fits && polls.most === null ? null : fits },
  };
}

const sumOf = (ranges: readonly Estimate[]): Estimate => ({
  least: sum(ranges.map(({ least }) => least)),
  likely: sumKnown(ranges.map(({ likely }) => likely)),
  most: sumKnown(ranges.map(({ most }) => most)),
});

const costOf = (requests: Estimate) => ({
  requests,
  credits: {
    least: requests.least * creditsPerRequest,
    likely: requests.likely === null ? null : requests.likely * creditsPerRequest,
    most: requests.most === null ? null : requests.most * creditsPerRequest,
  },
});

const daySeconds = 86_400;

/** From now on: the rest of today's credits, then whole days from midnight UTC. */
function secondsFor(
  requests: number | null,
  { perSecond, perDay }: { readonly perSecond: number; readonly perDay: number },
  { at, spentToday }: Now,
): number | null {
  if (requests === null || requests === 0) return requests;
  if (perSecond <= 0 || perDay <= 0) return null;
  if (perDay >= perSecond * daySeconds) return Math.round(requests / perSecond);
  const midnight = daySeconds - ((at.getTime() / 1000) % daySeconds);
  const today = Math.min(Math.max(0, perDay - spentToday), perSecond * midnight);
  if (requests <= today) return Math.round(requests / perSecond);
  const wholeDays = Math.ceil((requests - today) / perDay) - 1;
  const onLastDay = requests - today - wholeDays * perDay;
  return Math.round(midnight + wholeDays * daySeconds + onLastDay / perSecond);
}
