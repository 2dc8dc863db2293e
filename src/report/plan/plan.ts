import { operationNames } from '../../operations/index.ts';
import type { ChainSettings } from '../../config/settings.ts';
import type { Database } from '../../db/transaction.ts';
import { storedTargets, type FeedTarget } from '../../feeds/targets.ts';
import { feedName, type Feed } from '../../lists/feed.ts';
import { kindOf } from '../../lists/index.ts';
import type { Estimate, Estimates } from '../../lists/list.ts';
import { ledgerFacts, type LedgerFacts } from './facts.ts';
import { firingsPerDay } from './firings.ts';

/** What is left of a feed's history, and what a day of it costs. */
export interface FeedEstimate extends Feed, Estimates {
  readonly feed: string;
}

/** The same with what it has cost so far. */
export interface FeedForecast extends FeedEstimate {
  readonly done: LedgerFacts;
  /** The bounds that a command named; absent: none did, or the file names bounds. */
  readonly target?: FeedTarget | undefined;
}

/** How the estimates are to be read. */
export interface ForecastOptions {
  readonly pageSize: number;
  readonly at: Date;
}

/**
 * What is known of every feed of these chains, from stored facts alone.
 *
 * @param db null: there are no tables yet
 */
export async function forecastFeeds(
  db: Database | null,
  chains: readonly ChainSettings[],
  options: ForecastOptions,
): Promise<FeedForecast[]> {
  const forecasts: FeedForecast[] = [];
  const targets = db === null ? new Map<string, FeedTarget>() : await storedTargets(db);
  for (const estimate of await estimateFeeds(db, chains, options)) {
    const done = db === null ? nothingDone : await ledgerFacts(db, estimate);
    const target = targets.get(estimate.feed);
    forecasts.push({ ...estimate, history: historyOf(estimate.history, done), done, target });
  }
  return forecasts;
}

const nothingDone: LedgerFacts = { requests: 0, credits: 0, latencyMs: null };

/** Before the first page that is all there is to say, whatever the kind of list lacks. */
const historyOf = (history: Estimate, { requests }: LedgerFacts): Estimate =>
  history.requests === null && requests === 0 ? { ...history, reason: 'never-read' } : history;

/** The estimates alone, without reading the ledger. */
export async function estimateFeeds(
  db: Database | null,
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
export const servicePlans: readonly [free: Plan, ...larger: Plan[]] = [
  { name: 'free', requestsPerSecond: 5, dailyCredits: 100_000 },
  { name: '15 requests/s', requestsPerSecond: 15, dailyCredits: null },
  { name: '30 requests/s', requestsPerSecond: 30, dailyCredits: null },
  { name: '50 requests/s', requestsPerSecond: 50, dailyCredits: null },
];
