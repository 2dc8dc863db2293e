import type { ChainSettings, Settings } from '../config/settings.ts';
import type { Database } from '../db/transaction.ts';
import type { PlanDocument } from '../documents/plan.ts';
import { kindOf } from '../lists/index.ts';
import type { Estimate } from '../lists/list.ts';
import { creditsPerPage } from '../sync/ledger.ts';
import { withTargets } from '../sync/targets.ts';
import { estimateFeeds, type FeedEstimate, type ForecastOptions } from './estimate.ts';

/** What `plan` says, but how the command ended. */
type PlanReport = Omit<PlanDocument, 'schema' | 'exit'>;
type Range = PlanReport['history']['requests'];
type Seconds = PlanReport['history']['seconds'];
type Target = PlanReport['feeds'][number]['target'];

/** An estimate, and which part of the list it is about. */
export interface FeedPlan extends Omit<FeedEstimate, 'settings'> {
  readonly target: Target;
}

/** What the configuration allows the key. */
type Limits = Pick<Settings['explorer'], 'requestsPerSecond' | 'dailyCredits'>;

/** When the plan is made, and how many requests today's credits were spent on. */
interface Moment {
  readonly at: Date;
  readonly spentToday: number;
}

/**
 * What every feed of the configuration costs, down to its target.
 *
 * @param db null: there are no tables yet
 */
export async function planFeeds(
  db: Database | null,
  chains: readonly ChainSettings[],
  options: ForecastOptions,
): Promise<FeedPlan[]> {
  const wanted = db === null ? chains : await withTargets(db, chains);
  const estimates = await estimateFeeds(db, wanted, options);
  return estimates.map(({ settings, ...estimate }) => {
    const { chain_id, operation } = estimate;
    const kind = kindOf(operation);
    const inFile = chains.find(({ id }) => id === chain_id)?.operations[operation];
    const isInFile = inFile !== undefined && kind.isBounded(inFile);
    const named_by = !kind.isBounded(settings) ? null : isInFile ? 'file' : 'command';
    return { ...estimate, target: { ...boundsOf({ ...settings }), named_by } };
  });
}

const boundsOf = ({ since, fromBatch, toBatch }: Readonly<Record<string, unknown>>) => ({
  since: typeof since === 'string' ? since : null,
  from_batch: typeof fromBatch === 'number' ? fromBatch : null,
  to_batch: typeof toBatch === 'number' ? toBatch : null,
});

/** What the feeds cost in requests, credits and time. Pure. */
export function planReport(
  feeds: readonly FeedPlan[],
  { requestsPerSecond, dailyCredits }: Limits,
  moment: Moment,
): PlanReport {
  const perDay = dailyCredits === null ? Infinity : Math.floor(dailyCredits / creditsPerPage);
  const pace = { perSecond: requestsPerSecond, perDay };
  const isKnown = ({ history }: FeedPlan) => history.requests !== null;
  const history = sumOf(feeds.filter(isKnown).map((feed) => rangeOf(feed.history)));
  const upkeep = sumOf(feeds.map((feed) => rangeOf(feed.upkeep)));
  const polls = upkeep.most ?? feeds.reduce((sum, feed) => sum + atMost(feed.upkeep), 0);
  const fits = polls <= Math.min(perDay, requestsPerSecond * daySeconds);
  const besideUpkeep = {
    perSecond: requestsPerSecond - polls / daySeconds,
    perDay: perDay - polls,
  };
  return {
    as_of: moment.at.toISOString(),
    rate: {
      requests_per_second: requestsPerSecond,
      daily_credits: dailyCredits,
      credits_per_request: creditsPerPage,
    },
    spent_today: moment.spentToday * creditsPerPage,
    feeds: feeds.map(({ feed, chain_id, operation, target, ...estimate }) => ({
      feed,
      chain_id,
      operation,
      target,
      history: withTime(rangeOf(estimate.history), pace, moment),
      upkeep: costOf(rangeOf(estimate.upkeep)),
    })),
    history: {
      ...withTime(history, pace, moment),
      seconds_beside_upkeep: secondsOf(history, besideUpkeep, moment),
      unknown: feeds.filter((feed) => !isKnown(feed)).map(({ feed }) => feed),
    },
    upkeep: { ...costOf(upkeep), fits: fits && upkeep.most === null ? null : fits },
  };
}

const rangeOf = ({ least, likely, requests }: Estimate): Range => ({
  least,
  likely,
  most: requests,
});

const atMost = ({ least, requests }: Estimate): number => requests ?? least;

/** The sum of all; what is likely of it, and the most, only where that of each is known. */
const sumOf = (ranges: readonly Range[]): Range =>
  ranges.reduce<Range>(
    (sum, { least, likely, most }) => ({
      least: sum.least + least,
      likely: sum.likely === null || likely === null ? null : sum.likely + likely,
      most: sum.most === null || most === null ? null : sum.most + most,
    }),
    { least: 0, likely: 0, most: 0 },
  );

const costOf = (requests: Range) => ({
  requests,
  credits: {
    least: requests.least * creditsPerPage,
    likely: requests.likely === null ? null : requests.likely * creditsPerPage,
    most: requests.most === null ? null : requests.most * creditsPerPage,
  },
});

/** How fast requests may be made. */
interface Pace {
  readonly perSecond: number;
  /** Requests that a day's credits pay for. */
  readonly perDay: number;
}

const withTime = (requests: Range, pace: Pace, moment: Moment) => ({
  ...costOf(requests),
  seconds: secondsOf(requests, pace, moment),
});

const secondsOf = ({ likely, most }: Range, pace: Pace, moment: Moment): Seconds => ({
  likely: likely === null ? null : secondsFor(likely, pace, moment),
  most: most === null ? null : secondsFor(most, pace, moment),
});

const daySeconds = 86_400;

/** From now on: what is left of today's credits, whole days of them from midnight UTC on, and the rest. */
function secondsFor(
  requests: number,
  { perSecond, perDay }: Pace,
  { at, spentToday }: Moment,
): number | null {
  if (requests === 0) return 0;
  if (perSecond <= 0 || perDay <= 0) return null;
  if (perDay >= perSecond * daySeconds) return Math.round(requests / perSecond);
  const midnight = daySeconds - ((at.getTime() / 1000) % daySeconds);
  const today = Math.min(Math.max(0, perDay - spentToday), perSecond * midnight);
  if (requests <= today) return Math.round(requests / perSecond);
  const wholeDays = Math.ceil((requests - today) / perDay) - 1;
  const onLastDay = requests - today - wholeDays * perDay;
  return Math.round(midnight + wholeDays * daySeconds + onLastDay / perSecond);
}
