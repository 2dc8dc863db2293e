import type { PlanDocument } from '../../documents/plan.ts';
import { mostWalks, walksThatPay } from '../../lists/walks-called-for.ts';
import { creditsPerPage } from '../../walk/ledger.ts';
import type { FeedForecast, Plan } from './plan.ts';
import { endsOf, limitOf, type Job, type Rate } from './timeline.ts';

/** Seconds from now; null: nothing tells, or not within 100 years. */
type Seconds = PlanDocument['history']['seconds'];
export type Bound = PlanDocument['history']['bound_by'];

/** When the feeds' histories are read under a plan. */
export interface Schedule {
  /** Until each feed's history is read, by its name. */
  readonly ends: ReadonlyMap<string, Seconds>;
  /** Until all histories are read whose size is known. */
  readonly seconds: Seconds;
  /** The latest of it beside the upkeep, which goes first. */
  readonly secondsBesideUpkeep: number | null;
  readonly boundBy: Bound;
  /** The feed with history left that is done first; null where there is none. */
  readonly first: string | null;
  /** Whether a day's upkeep fits into a day; null while what is known of it does. */
  readonly isUpkeepAffordable: boolean | null;
}

/** When the schedule is made, and what today's credits were spent on. */
export interface Moment {
  readonly at: Date;
  readonly spentToday: number;
}

/** When the feeds' histories are read under a plan, from their least and from their most requests. */
export function scheduleFeeds(
  forecasts: readonly FeedForecast[],
  plan: Plan,
  moment: Moment,
): Schedule {
  const rate: Rate = {
    perSecond: plan.requestsPerSecond,
    perDay: plan.dailyCredits === null ? null : Math.floor(plan.dailyCredits / creditsPerPage),
  };
  const upkeepPerDay = forecasts.reduce(
    (sum, { upkeep }) => sum + (upkeep.requests ?? upkeep.least),
    0,
  );
  const alone = { ...moment, upkeepPerDay: 0 };
  const jobs = jobsOf(forecasts, plan, 'requests');
  const most = endsOf(jobs, rate, alone);
  const least = endsOf(jobsOf(forecasts, plan, 'least'), rate, alone);
  const ends = new Map(
    jobs.map(({ feed }) => [feed, { least: secondsOf(least, feed), most: secondsOf(most, feed) }]),
  );
  const [first] = jobs
    .filter(({ requests }) => requests > 0)
    .map(({ feed }) => ({ feed, seconds: most.get(feed) ?? Infinity }))
    .toSorted((a, b) => a.seconds - b.seconds);
  const fits = upkeepPerDay <= Math.min(rate.perDay ?? Infinity, rate.perSecond * 86_400);
  return {
    ends,
    seconds: { least: latest(least), most: latest(most) },
    secondsBesideUpkeep: latest(endsOf(jobs, rate, { ...moment, upkeepPerDay })),
    boundBy: boundOf(jobs, plan, rate, moment),
    first: first === undefined || first.seconds === Infinity ? null : first.feed,
    isUpkeepAffordable:
      fits && forecasts.some(({ upkeep }) => upkeep.requests === null) ? null : fits,
  };
}

/** What of the histories is left whose most is known. */
function jobsOf(
  forecasts: readonly FeedForecast[],
  { requestsPerSecond: perSecond }: Plan,
  side: 'least' | 'requests',
): Job[] {
  const lanes = forecasts.filter(({ history }) => (history.requests ?? 0) > 0).length;
  return forecasts.flatMap(({ feed, history, walks, done: { latencyMs } }) => {
    if (history.requests === null) return [];
    const pay = walksThatPay({ perSecond, tripMs: latencyMs, lanes });
    const requests = side === 'least' ? history.least : (history.likely ?? history.requests);
    // Where others end, it takes their part of the rate, and walks with it.
    return [{ feed, requests, walks: walks ?? pay, mostWalks: walks ?? mostWalks, latencyMs }];
  });
}

/** More requests a second than any answers allow. */
const anyRate = 1e9;

/**
 * What the end depends on: that of credits, rate and latency without which it would come soonest. Null:
 * nothing is left.
 */
function boundOf(jobs: readonly Job[], plan: Plan, rate: Rate, moment: Moment): Bound {
  const beginning = { ...moment, upkeepPerDay: 0 };
  const endWith = (work: readonly Job[], limits: Rate) =>
    latest(endsOf(work, limits, beginning)) ?? Infinity;
  const [last] = jobs
    .filter(({ requests }) => requests > 0)
    .map((job) => ({ job, seconds: endsOf(jobs, rate, beginning).get(job.feed) ?? Infinity }))
    .toSorted((a, b) => b.seconds - a.seconds);
  if (last === undefined) return null;
  const unlimited = endWith(jobs, { ...rate, perDay: null });
  if (plan.dailyCredits !== null && unlimited < last.seconds) {
    return { kind: 'credits', daily_credits: plan.dailyCredits };
  }
  const answered = jobs.map((job) => ({ ...job, latencyMs: null }));
  const { feed, latencyMs } = last.job;
  const isSlow = endWith(answered, rate) < endWith(jobs, { ...rate, perSecond: anyRate });
  if (isSlow && latencyMs !== null) {
    return {
      kind: 'latency',
      requests_per_second: Math.round(limitOf(last.job) * 10) / 10,
      latency_ms: Math.round(latencyMs),
      feed,
    };
  }
  return { kind: 'rate', requests_per_second: plan.requestsPerSecond };
}

function secondsOf(ends: ReadonlyMap<string, number | null>, feed: string): number | null {
  const seconds = ends.get(feed) ?? null;
  return seconds === null ? null : Math.round(seconds);
}

function latest(ends: ReadonlyMap<string, number | null>): number | null {
  if (ends.size === 0) return null;
  const last = Math.max(...[...ends.values()].map((end) => end ?? Infinity));
  return last === Infinity ? null : Math.round(last);
}
