import { operationNames } from '../../operations/index.ts';
import type { ChainSettings } from '../../config/settings.ts';
import type { Database } from '../../db/transaction.ts';
import { creditsPerPage } from '../../walk/ledger.ts';
import { feedName, type Feed } from '../../lists/feed.ts';
import { kindOf } from '../../lists/index.ts';
import type { Estimates } from '../../lists/list.ts';
import { walksThatPay } from '../../lists/walks-called-for.ts';
import { ledgerFacts, type LedgerFacts } from './facts.ts';
import { firingsPerDay } from './firings.ts';
import { endsOf, type Job, type Rate } from './timeline.ts';

/** What is left of a feed's history, and what a day of it costs. */
export interface FeedEstimate extends Feed, Estimates {
  readonly feed: string;
}

/** The same with what it has cost so far. */
export interface FeedForecast extends FeedEstimate {
  readonly done: LedgerFacts;
}

/** How the estimates are to be read. */
export interface ForecastOptions {
  readonly pageSize: number;
  readonly at: Date;
}

/** What is known of every feed of these chains, from stored facts alone. */
export async function forecastFeeds(
  db: Database,
  chains: readonly ChainSettings[],
  options: ForecastOptions,
): Promise<FeedForecast[]> {
  const forecasts: FeedForecast[] = [];
  for (const estimate of await estimateFeeds(db, chains, options)) {
    forecasts.push({ ...estimate, done: await ledgerFacts(db, estimate) });
  }
  return forecasts;
}

/** The estimates alone, without reading the ledger. */
export async function estimateFeeds(
  db: Database,
  chains: readonly ChainSettings[],
  options: ForecastOptions,
): Promise<FeedEstimate[]> {
  const found: FeedEstimate[] = [];
  for (const { feed, settings } of feedsOf(chains)) {
    const pollsPerDay = firingsPerDay(settings.schedule, options.at);
    const how = { ...options, pollsPerDay };
    const estimates = await kindOf(feed.operation).estimate(db, feed, settings, how);
    found.push({ ...feed, feed: feedName(feed), ...estimates });
  }
  return found;
}

/** The feeds of these chains where there is no database yet. */
export function unknownFeeds(chains: readonly ChainSettings[]): FeedForecast[] {
  const unread = { requests: null, isAtMost: false, basis: 'nothing was read yet' };
  return feedsOf(chains).map(({ feed }) => ({
    ...feed,
    feed: feedName(feed),
    done: { requests: 0, credits: 0, latencyMs: null },
    history: unread,
    upkeep: unread,
    walks: 1,
  }));
}

/** The feeds of these chains, with what is configured for each. */
function feedsOf(chains: readonly ChainSettings[]) {
  return chains.flatMap((chain) =>
    operationNames.flatMap((operation) => {
      const feed: Feed = { chain_id: chain.id, operation };
      const settings = chain.operations[operation];
      return settings === undefined ? [] : [{ feed, settings }];
    }),
  );
}

/** The rate and the credits of a plan of the service, or of the configuration. */
export interface Plan {
  readonly name: string;
  readonly requestsPerSecond: number;
  /** Null: no limit a day. */
  readonly dailyCredits: number | null;
}

/** The service's plans as of autumn 2026. Above the free one credits are counted by the month. */
export const servicePlans: readonly Plan[] = [
  { name: 'free', requestsPerSecond: 5, dailyCredits: 100_000 },
  { name: '15 requests/s', requestsPerSecond: 15, dailyCredits: null },
  { name: '30 requests/s', requestsPerSecond: 30, dailyCredits: null },
  { name: '50 requests/s', requestsPerSecond: 50, dailyCredits: null },
];

/** What feeds cost under a plan. Seconds are null where something is unknown, or never ends. */
export interface Schedule {
  /** Until each feed's history is read, by its name. */
  readonly ends: ReadonlyMap<string, number | null>;
  /** Until all histories are read whose size is known. */
  readonly seconds: number | null;
  /** The same beside the upkeep, which goes first. */
  readonly secondsBesideUpkeep: number | null;
  /** The feed with history left that is done first; null where there is none. */
  readonly first: string | null;
  /** Whether a day's upkeep fits into a day; null while what is known of it does. */
  readonly isUpkeepAffordable: boolean | null;
}

/** When the feeds' histories are read under a plan. */
export function scheduleFeeds(
  forecasts: readonly FeedForecast[],
  plan: Plan,
  { at, spentToday }: { readonly at: Date; readonly spentToday: number },
): Schedule {
  const rate: Rate = {
    perSecond: plan.requestsPerSecond,
    perDay: plan.dailyCredits === null ? null : Math.floor(plan.dailyCredits / creditsPerPage),
  };
  const lanes = forecasts.filter(({ history }) => (history.requests ?? 0) > 0).length;
  const jobs = forecasts.flatMap(({ feed, history, walks, done: { latencyMs } }): Job[] => {
    const pay = walksThatPay({ perSecond: plan.requestsPerSecond, tripMs: latencyMs, lanes });
    const { requests } = history;
    return requests === null ? [] : [{ feed, requests, walks: walks ?? pay, latencyMs }];
  });
  const upkeepPerDay = forecasts.reduce((sum, { upkeep }) => sum + (upkeep.requests ?? 0), 0);
  const ends = endsOf(jobs, rate, { at, spentToday, upkeepPerDay: 0 });
  const beside = endsOf(jobs, rate, { at, spentToday, upkeepPerDay });
  const busy = jobs.filter(({ requests }) => requests > 0).map(({ feed }) => feed);
  const fits = upkeepPerDay <= Math.min(rate.perDay ?? Infinity, rate.perSecond * 86_400);
  const [first] = busy
    .map((feed) => ({ feed, seconds: ends.get(feed) ?? Infinity }))
    .sort((a, b) => a.seconds - b.seconds);
  return {
    ends,
    seconds: latest(ends),
    secondsBesideUpkeep: latest(beside),
    first: first === undefined || first.seconds === Infinity ? null : first.feed,
    isUpkeepAffordable:
      fits && forecasts.some(({ upkeep }) => upkeep.requests === null) ? null : fits,
  };
}

function latest(ends: ReadonlyMap<string, number | null>): number | null {
  if (ends.size === 0) return null;
  const seconds = [...ends.values()].map((end) => end ?? Infinity);
  const last = Math.max(...seconds);
  return last === Infinity ? null : last;
}
