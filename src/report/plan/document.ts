import { creditsPerPage } from '../../walk/ledger.ts';
import type { Estimate } from '../../lists/list.ts';
import {
  scheduleFeeds,
  servicePlans,
  type FeedForecast,
  type Plan,
  type Schedule,
} from './plan.ts';

/** A size in requests and credits; null where it is unknown. */
interface Cost {
  readonly requests: number | null;
  readonly credits: number | null;
}

/** A time until something; null where it is unknown or never comes. */
interface Until {
  readonly seconds: number | null;
  readonly days: number | null;
}

interface Estimated extends Cost {
  readonly is_at_most: boolean;
  readonly basis: string;
}

/** What `plan` says, as one document. Upkeep is a day's; times are ISO 8601. */
export interface PlanDocument {
  readonly as_of: string;
  readonly rate: {
    readonly requests_per_second: number;
    readonly daily_credits: number | null;
    readonly credits_per_request: number;
  };
  readonly feeds: readonly {
    readonly feed: string;
    readonly chain_id: number;
    readonly operation: string;
    readonly done: { readonly requests: number; readonly credits: number };
    readonly history: Estimated & Until & { readonly ends_at: string | null };
    readonly upkeep: Estimated;
  }[];
  /** Of all feeds whose size is known; `unknown` names the others. */
  readonly history: Cost &
    Until & {
      readonly ends_at: string | null;
      /** With the upkeep of every feed going on meanwhile. */
      readonly days_beside_upkeep: number | null;
      readonly first_done: string | null;
      readonly unknown: readonly string[];
    };
  readonly upkeep: Cost & { readonly fits: boolean | null; readonly unknown: readonly string[] };
  readonly plans: readonly ({
    readonly plan: string;
    readonly requests_per_second: number;
    readonly daily_credits: number | null;
    /** How much sooner history is read than as configured. */
    readonly saves_days: number | null;
    readonly upkeep_fits: boolean | null;
    readonly first_done: string | null;
  } & Until)[];
  readonly warnings: readonly string[];
}

/** When the document was made, and what today's credits were spent on. */
interface Moment {
  readonly at: Date;
  readonly spentToday: number;
}

/** Puts forecasts, rates and the service's plans together. Pure. */
export function planDocument(
  forecasts: readonly FeedForecast[],
  configured: Pick<Plan, 'requestsPerSecond' | 'dailyCredits'>,
  moment: Moment,
): PlanDocument {
  const schedule = scheduleFeeds(forecasts, { name: 'configured', ...configured }, moment);
  const history = sumOf(forecasts, 'history');
  const upkeep = sumOf(forecasts, 'upkeep');
  const endsAt = (seconds: number | null) =>
    seconds === null ? null : new Date(moment.at.getTime() + seconds * 1000).toISOString();
  return {
    as_of: moment.at.toISOString(),
    rate: {
      requests_per_second: configured.requestsPerSecond,
      daily_credits: configured.dailyCredits,
      credits_per_request: creditsPerPage,
    },
    feeds: forecasts.map((forecast) => {
      const seconds = schedule.ends.get(forecast.feed) ?? null;
      return {
        feed: forecast.feed,
        chain_id: forecast.chain_id,
        operation: forecast.operation,
        done: { requests: forecast.done.requests, credits: forecast.done.credits },
        history: { ...estimated(forecast.history), ...until(seconds), ends_at: endsAt(seconds) },
        upkeep: estimated(forecast.upkeep),
      };
    }),
    history: {
      ...history,
      ...until(schedule.seconds),
      ends_at: endsAt(schedule.seconds),
      days_beside_upkeep: until(schedule.secondsBesideUpkeep).days,
      first_done: schedule.first,
    },
    upkeep: { ...upkeep, fits: schedule.isUpkeepAffordable },
    plans: servicePlans.map((plan) => comparison(plan, schedule, forecasts, moment)),
    warnings: warningsOf(schedule, upkeep.credits, configured),
  };
}

function comparison(
  plan: Plan,
  configured: Schedule,
  forecasts: readonly FeedForecast[],
  moment: Moment,
): PlanDocument['plans'][number] {
  const schedule = scheduleFeeds(forecasts, plan, moment);
  const saved =
    schedule.seconds === null || configured.seconds === null
      ? null
      : configured.seconds - schedule.seconds;
  return {
    plan: plan.name,
    requests_per_second: plan.requestsPerSecond,
    daily_credits: plan.dailyCredits,
    ...until(schedule.seconds),
    saves_days: until(saved).days,
    upkeep_fits: schedule.isUpkeepAffordable,
    first_done: schedule.first,
  };
}

function warningsOf(
  { isUpkeepAffordable, seconds, secondsBesideUpkeep }: Schedule,
  upkeepCredits: number | null,
  { requestsPerSecond, dailyCredits }: Pick<Plan, 'requestsPerSecond' | 'dailyCredits'>,
): string[] {
  const advice = 'choose wider schedules, a smaller reread or fewer feeds, or a larger plan';
  if (isUpkeepAffordable === false) {
    const limit =
      dailyCredits === null
        ? `${requestsPerSecond} requests a second`
        : `${whole.format(dailyCredits)} credits and ${requestsPerSecond} requests a second`;
    const upkeep = whole.format(upkeepCredits ?? 0);
    return [`a day's upkeep of ${upkeep} credits does not fit into ${limit}: ${advice}`];
  }
  return seconds !== null && secondsBesideUpkeep === null
    ? [`beside its upkeep the history is never read: ${advice}`]
    : [];
}

const whole = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });

const estimated = ({ requests, isAtMost, basis }: Estimate): Estimated => ({
  requests,
  credits: requests === null ? null : requests * creditsPerPage,
  is_at_most: isAtMost,
  basis,
});

function sumOf(forecasts: readonly FeedForecast[], part: 'history' | 'upkeep') {
  const known = forecasts.flatMap((forecast) => forecast[part].requests ?? []);
  const requests = known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0);
  return {
    requests,
    credits: requests === null ? null : requests * creditsPerPage,
    unknown: forecasts.flatMap((forecast) =>
      forecast[part].requests === null ? forecast.feed : [],
    ),
  };
}

const until = (seconds: number | null): Until => ({
  seconds: seconds === null ? null : Math.round(seconds),
  days: seconds === null ? null : Math.round((seconds / 86_400) * 1000) / 1000,
});
