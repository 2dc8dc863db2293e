import type { PlanDocument } from '../../documents/plan.ts';
import type { FeedTarget } from '../../feeds/targets.ts';
import type { Estimate } from '../../lists/list.ts';
import { creditsPerPage } from '../../walk/ledger.ts';
import { servicePlans, type FeedForecast, type Plan } from './plan.ts';
import { scheduleFeeds, type Moment, type Schedule } from './schedule.ts';

/** What `plan` says, but how the command ended. */
type PlanReport = Omit<PlanDocument, 'schema' | 'exit'>;

type Range = PlanReport['history']['requests'];

/** Puts forecasts, rates and the service's plans together. Pure. */
export function planReport(
  forecasts: readonly FeedForecast[],
  configured: Pick<Plan, 'requestsPerSecond' | 'dailyCredits'>,
  moment: Moment,
): PlanReport {
  const schedule = scheduleFeeds(forecasts, { name: 'configured', ...configured }, moment);
  const known = forecasts.filter(({ history }) => history.requests !== null);
  const history = sumOf(known.map((forecast) => forecast.history));
  const upkeep = sumOf(forecasts.map((forecast) => forecast.upkeep));
  return {
    as_of: moment.at.toISOString(),
    rate: {
      requests_per_second: configured.requestsPerSecond,
      daily_credits: configured.dailyCredits,
      credits_per_request: creditsPerPage,
    },
    spent_today: { requests: moment.spentToday, credits: moment.spentToday * creditsPerPage },
    feeds: forecasts.map((forecast) => feedOf(forecast, schedule)),
    history: {
      ...costOf(history),
      seconds: schedule.seconds,
      seconds_beside_upkeep: schedule.secondsBesideUpkeep,
      free_plan_days: freeDays(history),
      bound_by: schedule.boundBy,
      first_done: schedule.first,
      unknown: forecasts.filter((forecast) => !known.includes(forecast)).map(({ feed }) => feed),
    },
    upkeep: {
      ...costOf(upkeep),
      free_plan_days: freeDays(upkeep),
      fits: schedule.isUpkeepAffordable,
    },
    plans: servicePlans.map((plan) => {
      const { seconds, boundBy, isUpkeepAffordable } = scheduleFeeds(forecasts, plan, moment);
      return {
        plan: plan.name,
        requests_per_second: plan.requestsPerSecond,
        daily_credits: plan.dailyCredits,
        seconds,
        bound_by: boundBy,
        upkeep_fits: isUpkeepAffordable,
      };
    }),
    warnings: warningsOf(schedule),
  };
}

function feedOf(
  { feed, chain_id, operation, target, done, history, upkeep }: FeedForecast,
  { ends }: Schedule,
): PlanReport['feeds'][number] {
  return {
    feed,
    chain_id,
    operation,
    target: target === undefined ? null : boundsOf(target),
    done: { requests: done.requests, credits: done.credits },
    latency_ms: done.latencyMs === null ? null : Math.round(done.latencyMs),
    history: {
      ...costOf(rangeOf(history)),
      seconds: ends.get(feed) ?? { least: null, most: null },
      reason: history.reason,
      basis: [...history.parts],
    },
    upkeep: {
      ...costOf(rangeOf(upkeep)),
      reason: upkeep.reason,
      basis: [...upkeep.parts],
    },
  };
}

const boundsOf = ({ since, fromBatch, toBatch }: FeedTarget) => ({
  since: typeof since === 'string' ? since : null,
  from_batch: typeof fromBatch === 'number' ? fromBatch : null,
  to_batch: typeof toBatch === 'number' ? toBatch : null,
});

function warningsOf({ isUpkeepAffordable, seconds, secondsBesideUpkeep }: Schedule) {
  if (isUpkeepAffordable === false) return [{ kind: 'upkeep-does-not-fit' as const }];
  return seconds.most !== null && secondsBesideUpkeep === null
    ? [{ kind: 'history-never-ends' as const }]
    : [];
}

const rangeOf = ({ least, likely, requests }: Estimate): Range => ({
  least,
  likely,
  most: requests,
});

/** The sum of all; what is likely of it, and the most, only where that of each is known. */
const sumOf = (estimates: readonly Estimate[]): Range =>
  estimates.reduce<Range>(
    (sum, { least, likely, requests }) => ({
      least: sum.least + least,
      likely: sum.likely === null || likely === null ? null : sum.likely + likely,
      most: sum.most === null || requests === null ? null : sum.most + requests,
    }),
    { least: 0, likely: 0, most: 0 },
  );

const times = ({ least, likely, most }: Range, factor: number): Range => ({
  least: least * factor,
  likely: likely === null ? null : likely * factor,
  most: most === null ? null : most * factor,
});

const costOf = (requests: Range) => ({ requests, credits: times(requests, creditsPerPage) });

const [freePlan] = servicePlans;

/** How many days of the free plan's credits so many requests are worth. */
function freeDays(requests: Range): Range {
  const { least, likely, most } = times(
    requests,
    creditsPerPage / (freePlan.dailyCredits ?? Infinity),
  );
  return {
    least: toThousandths(least),
    likely: likely === null ? null : toThousandths(likely),
    most: most === null ? null : toThousandths(most),
  };
}

const toThousandths = (days: number) => Math.round(days * 1000) / 1000;
