import { setTimeout as delay } from 'node:timers/promises';
import { openClient } from '../app.ts';
import { type ApiKey, requireApiKey, type Settings } from '../config/settings.ts';
import { isPermissionDenied } from '../db/failure.ts';
import { isPrepared } from '../db/prepared.ts';
import type { CheckDocument } from '../documents/check.ts';
import { readSpending } from '../explorer/budget.ts';
import type { ExplorerClient, Reported } from '../explorer/client.ts';
import { ExplorerError } from '../explorer/error.ts';
import { parseBody } from '../explorer/response.ts';
import { failures } from '../failure.ts';
import { feedName } from '../lists/feed.ts';
import { kindOf } from '../lists/index.ts';
import type { OpenDatabase } from '../open-database.ts';
import { operations } from '../operations/index.ts';
import { type ConfiguredLane, configuredLanes } from '../sync/targets.ts';
import { clockAhead, clockFinding } from './check-clock.ts';
import type { Finding } from './check-database.ts';

/** What the service said of every feed, and of itself on the way. */
export interface ExplorerAnswer extends Pick<CheckDocument, 'explorer' | 'keys' | 'feeds'> {
  readonly findings: readonly Finding[];
}

/** Where pages come from, where nothing is asked of it. */
export const unasked = (settings: Pick<Settings, 'explorer'>): ExplorerAnswer => ({
  explorer: { host: hostOf(settings), clock_ahead_ms: null },
  keys: [],
  feeds: [],
  findings: [],
});

const hostOf = ({ explorer: { baseUrl } }: Pick<Settings, 'explorer'>) => new URL(baseUrl).host;

/**
 * Asks for the smallest page of every feed.
 *
 * @throws ConfigError where a key is not set
 */
export async function askExplorer(
  settings: Settings,
  database: OpenDatabase,
  signal: AbortSignal,
): Promise<ExplorerAnswer> {
  const ways = Map.groupBy(requireApiKey(settings), ([, key]) => key);
  const keys: CheckDocument['keys'] = [];
  const feeds: CheckDocument['feeds'] = [];
  const findings: Finding[] = [];
  let clock_ahead_ms: number | null = null;
  for (const [key, entries] of ways) {
    const chains = entries.map(([id]) => id);
    const heard = await askWith(key, chains, settings, signal);
    feeds.push(...heard.feeds);
    findings.push(...grouped(heard.refusals));
    keys.push({ chains, ...(await creditsOf(key, heard.creditsRemaining, database)) });
    clock_ahead_ms ??= heard.clockAheadMs;
  }
  const clock = clockFinding("the explorer's", clock_ahead_ms);
  return {
    explorer: { host: hostOf(settings), clock_ahead_ms },
    keys,
    feeds,
    findings: [...findings, ...(clock === null ? [] : [clock])],
  };
}

interface Refusal {
  readonly feed: string;
  readonly error: ExplorerError;
}

/** What was heard on the way with one key. */
interface Heard {
  readonly feeds: CheckDocument['feeds'];
  readonly refusals: Refusal[];
  creditsRemaining: number | null;
  clockAheadMs: number | null;
}

async function askWith(
  key: ApiKey,
  chains: readonly number[],
  settings: Settings,
  signal: AbortSignal,
): Promise<Heard> {
  const heard: Heard = { feeds: [], refusals: [], creditsRemaining: null, clockAheadMs: null };
  const client = openClient(settings, key);
  try {
    // Every feed has this lane, some have a second one: one question tells of both.
    const lanes = configuredLanes(settings.chains).filter(
      ({ lane }) => lane.lane === 'backfill' && chains.includes(lane.chain_id),
    );
    for (const lane of lanes) {
      const gapMs = 1000 / key.requestsPerSecond;
      await askFeed(client, lane, { gapMs, signal, heard });
    }
  } finally {
    await client.close();
  }
  return heard;
}

/** The service tells its time to the second: in the middle of it, it is half a second off at most. */
const halfSecondMs = 500;

async function askFeed(
  client: ExplorerClient,
  { lane, scope }: ConfiguredLane,
  how: { readonly gapMs: number; readonly signal: AbortSignal; readonly heard: Heard },
): Promise<void> {
  const { gapMs, signal, heard } = how;
  const example = kindOf(lane.operation).walkScope(scope);
  const request = {
    chainId: lane.chain_id,
    ...operations[lane.operation].request(example, null, 1),
  };
  const feed = feedName(lane);
  const admit = async () => {
    await delay(gapMs, undefined, { signal });
    return Date.now();
  };
  const report = async ({ admission: askedMs, limits, serviceMs }: Reported<number>) => {
    heard.creditsRemaining = limits.creditsRemaining ?? heard.creditsRemaining;
    if (serviceMs === null) return;
    const asked = { askedMs, answeredMs: Date.now() };
    heard.clockAheadMs = clockAhead(serviceMs + halfSecondMs, asked);
  };
  try {
    const answer = await client.get(request, { admit, report, read: parseBody, signal });
    const latency_ms = Math.round(answer.latencyMs);
    heard.feeds.push({ feed, state: 'answers', latency_ms, failure: null });
  } catch (error) {
    if (!(error instanceof ExplorerError)) throw error;
    heard.feeds.push({ feed, state: 'fails', latency_ms: null, failure: error.failure });
    heard.refusals.push({ feed, error });
  }
}

/** Feeds of one key that fail alike have one cause, and are told once. */
function grouped(refusals: readonly Refusal[]): Finding[] {
  return [...Map.groupBy(refusals, ({ error }) => error.message)].flatMap(([message, alike]) => {
    const [first] = alike;
    if (first === undefined) return [];
    const { failure } = first.error;
    const advice =
      failure === 'unreachable'
        ? 'Check the network and EXPLORER_BASE_URL.'
        : failures[failure].advice;
    const feeds = alike.map(({ feed }) => feed);
    return [{ state: 'failed', kind: 'feeds', feeds, failure, message: `${message}. ${advice}` }];
  });
}

/** What is left of a key's day: as the service says, or as we count, whichever is less. */
async function creditsOf(
  { apiKey, dailyCredits }: ApiKey,
  told: number | null,
  database: OpenDatabase,
): Promise<Omit<CheckDocument['keys'][number], 'chains'>> {
  const spending = await spendingOf(apiKey, database);
  const spent = spending?.credits_spent ?? null;
  const own = dailyCredits === null ? null : Math.max(0, dailyCredits - (spent ?? 0));
  const left = [told ?? spending?.credits_remaining ?? null, own].filter(
    (credits) => credits !== null,
  );
  return {
    credits_left: left.length === 0 ? null : Math.floor(Math.min(...left)),
    credits_spent_today: spent,
  };
}

/** Null where the database tells nothing: it has no tables yet, or this role may not look. */
async function spendingOf(apiKey: string, database: OpenDatabase) {
  try {
    if (!(await isPrepared(database.pool))) return null;
    return (
      (await readSpending(database.pool, apiKey)) ?? { credits_spent: 0, credits_remaining: null }
    );
  } catch (error) {
    if (isPermissionDenied(error)) return null;
    throw error;
  }
}
