import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { directUrlOf, openClient } from '../app.ts';
import { asTyped } from '../config/load.ts';
import { type ApiKey, requireApiKey, type Settings } from '../config/settings.ts';
import {
  describeDatabaseError,
  isConnectionLost,
  isPermissionDenied,
  newerDatabase,
} from '../db/failure.ts';
import { readSchema, serverProblem } from '../db/migrate.ts';
import { isPrepared, readStandby, StandbyError } from '../db/state.ts';
import { findWays, PoolerError } from '../db/route.ts';
import { parseUrl } from '../db/timeouts.ts';
import { readSpending } from '../explorer/budget.ts';
import type { ExplorerClient } from '../explorer/client.ts';
import { ExplorerError } from '../explorer/error.ts';
import { parseBody } from '../explorer/response.ts';
import { creditsPerRequest } from '../explorer/slot.ts';
import { failures } from '../failure.ts';
import { feedName } from '../lists/feed.ts';
import { kindOf } from '../lists/index.ts';
import { operations } from '../lists/registry.ts';
import type { OpenDatabase } from '../open-database.ts';
import { printable } from '../printable.ts';
import { type ConfiguredLane, configuredFeeds, configuredLanes } from '../sync/targets.ts';
import { prose } from '../terminal/layout.ts';
import { type Look, paint } from '../terminal/look.ts';
import { counted, duration, whole } from '../terminal/numbers.ts';
import { count } from '../status/schema.ts';
import { type Context, exits, type Registry } from './context.ts';
import { openFor } from './database.ts';
import { ownOrDemo } from './demo-world.ts';
import { addDemo, addFeedOptions, type ChosenFeeds } from './options.ts';

const checkSchema = z.strictObject({
  name: z.enum([
    'configuration',
    'database',
    'schema',
    'connection',
    'database clock',
    'explorer clock',
    'explorer',
    'credits',
  ]),
  state: z.enum(['ok', 'warning', 'failed']),
  message: z.string(),
  /** The feeds with this failure, and its class. */
  feeds: z.array(z.string()),
  failure: z.string().nullable(),
});
export type Check = z.infer<typeof checkSchema>;

export const checkDocument = z.strictObject({
  schema: z.literal('explorer-etl/check/2'),
  checks: z.array(checkSchema),
  /** Credits left of each key's day; empty with --no-requests. */
  keys: z.array(
    z.strictObject({
      chains: z.array(z.int()),
      /** As the service reports, or from explorer.daily_credits; null: unknown. */
      credits_left: count.nullable(),
      /** By this database, today (UTC); null: unknown. */
      credits_spent_today: count.nullable(),
    }),
  ),
});
type Key = z.infer<typeof checkDocument>['keys'][number];

interface CheckOptions extends ChosenFeeds {
  readonly requests: boolean;
}

export function register({ command, run, explain }: Registry): void {
  addDemo(addFeedOptions(command))
    .option(
      '--no-requests',
      `make no request (each feed's costs ${creditsPerRequest} credits)`,
      true,
    )
    .action(run(check));
  explain(['explorer-etl check', 'explorer-etl check --chain optimism --no-requests']);
}

async function check(context: Context, options: CheckOptions) {
  const settings = ownOrDemo(context, options);
  const { configFile, chains } = settings;
  await using database = await openFor(settings, context, 'reads');
  const file = configFile === null ? 'no file, flags only' : asTyped(configFile, context.cwd);
  const feeds = counted(configuredFeeds(chains).length, 'feed');
  const checks = [
    checkOf('configuration', `${file}: ${counted(chains.length, 'chain')}, ${feeds}`),
    ...(await checkDatabase(settings, database)),
  ];
  const keys: Key[] = [];
  // The demo's explorer ends with the demo.
  if (options.requests && !context.demo) {
    const { answers, credits } = await requestSamples(settings, database, context.signal);
    keys.push(...credits);
    checks.push(...checkAnswers(answers, settings), ...credits.flatMap(checkCredits));
  } else checks.push(checkOf('explorer', 'not tested'));
  // Without a file, the flags are needed each time.
  const next = configFile === null ? 'explorer-etl init' : 'explorer-etl sync';
  const text = checkText(checks, context.out, context.commandLine(next));
  const exit = hasFailed(checks) ? exits.failed : exits.done;
  return context.print(checkDocument, { checks, keys }, text, exit);
}

const hasFailed = (checks: readonly Check[]) => checks.some(({ state }) => state === 'failed');

const labels = {
  ok: ['good', 'ok    '],
  failed: ['bad', 'FAIL  '],
  warning: ['warning', 'warn  '],
} as const;

/** A line for each check; then the next command, unless one check failed. */
export function checkText(checks: readonly Check[], look: Look, next: string): string {
  const lines = checks.flatMap(({ name, state, message }) => {
    const [style, label] = labels[state];
    return prose(look, paint(look, style, label) + printable(`${name}: ${message}`));
  });
  const end = hasFailed(checks) ? [] : ['', `Next:  ${paint(look, 'command', next)}`];
  return `${[...lines, ...end].join('\n')}\n`;
}

export const checkOf = (
  name: Check['name'],
  message: string,
  state: Check['state'] = 'ok',
): Check => ({ name, state, message, feeds: [], failure: null });

/** How many ms a clock, read between two times of this machine, is ahead of it. */
export const clockAhead = (shownMs: number, beforeMs: number, afterMs: number) =>
  Math.round(shownMs - (beforeMs + afterMs) / 2);

/** Larger differences are a warning, in ms: days of credits begin by the database's clock. */
const toleratedMs = 5_000;

export function checkClock(name: 'database clock' | 'explorer clock', aheadMs: number): Check {
  if (Math.abs(aheadMs) <= toleratedMs) return checkOf(name, "agrees with this machine's");
  const by = duration(Math.round(Math.abs(aheadMs) / 1000));
  const is = `${by} ${aheadMs < 0 ? 'behind' : 'ahead of'} this machine's`;
  return checkOf(name, `${is}: let both follow a time server.`, 'warning');
}

async function checkDatabase(settings: Settings, database: OpenDatabase): Promise<Check[]> {
  const { pool, url, embedded } = database;
  const beforeMs = Date.now();
  const { rows } = await pool.query<Record<'version' | 'number' | 'name' | 'now_ms', string>>(`
    select current_setting('server_version') as version,
           current_setting('server_version_num') as number,
           current_database() as name,
           (1000 * extract(epoch from clock_timestamp()))::text as now_ms
  `);
  const [server = { version: 'unknown', number: '0', name: 'unknown', now_ms: '' }] = rows;
  const aheadMs = clockAhead(Number(server.now_ms), beforeMs, Date.now());
  const isStandby = (await readStandby(pool)) !== null;
  const { hostname, port, searchParams } = parseUrl(url);
  const host = searchParams.get('host') ?? decodeURIComponent(hostname);
  const place = `${server.name} on ${host}${port === '' ? '' : `:${port}`}`;
  const found = `${place}, Postgres ${server.version}${embedded === null ? '' : ', embedded'}`;
  const problem =
    serverProblem(Number(server.number), server.version) ??
    (isStandby ? new StandbyError().message : null);
  return [
    problem === null
      ? checkOf('database', found)
      : checkOf('database', `${found}: ${problem}`, 'failed'),
    await checkSchemaState(database),
    // The connection is tested by writing, which a standby refuses.
    ...(isStandby ? [] : await checkRoute(settings, database)),
    checkClock('database clock', aheadMs),
  ];
}

async function checkSchemaState({ pool }: OpenDatabase): Promise<Check> {
  const state = await unlessDenied(() => readSchema(pool));
  if (state === null) return checkOf('schema', 'this role may not look at the migrations');
  const { applied, of_program: all, ahead } = state;
  const missing = state.missing.length;
  const total = counted(all, 'migration');
  if (applied === 0)
    return checkOf('schema', `none yet; sync, start or migrate creates it (${total})`);
  const found = `${all - missing} of ${total} applied`;
  if (ahead > 0) {
    return checkOf('schema', `${found}; ${ahead} of a newer program: ${newerDatabase}`, 'failed');
  }
  const pending = missing > 0 ? `; sync, start or migrate applies ${missing}` : '';
  return checkOf('schema', found + pending);
}

/** @returns null if this role may not look */
async function unlessDenied<T>(read: () => Promise<T>): Promise<T | null> {
  try {
    return await read();
  } catch (error) {
    if (isPermissionDenied(error)) return null;
    throw error;
  }
}

/** Checks for a pooler or proxy between here and the server. */
async function checkRoute(settings: Settings, database: OpenDatabase): Promise<Check[]> {
  try {
    const directUrl = directUrlOf(settings, database);
    const { route } = await findWays(database.url, directUrl);
    if (route.is === 'direct') return [];
    const passed = directUrl === null ? '' : '; sessions use DATABASE_URL_DIRECT';
    return [checkOf('connection', `through ${route.pooler} in ${route.is} mode${passed}`)];
  } catch (error) {
    if (!(error instanceof PoolerError) && !isConnectionLost(error)) throw error;
    const message = error instanceof PoolerError ? error.message : describeDatabaseError(error);
    return [checkOf('connection', message, 'failed')];
  }
}

type FeedAnswer = Awaited<ReturnType<typeof requestSample>>;

/** Requests each feed's smallest page, and each key's credits. @throws ConfigError if a key is not set */
async function requestSamples(settings: Settings, { pool }: OpenDatabase, signal: AbortSignal) {
  const answers: FeedAnswer[] = [];
  const credits: Key[] = [];
  // Every feed has a backfill lane: one request covers both of its lanes.
  const lanes = configuredLanes(settings.chains).filter(({ lane }) => lane.lane === 'backfill');
  for (const [key, entries] of Map.groupBy(requireApiKey(settings), ([, used]) => used)) {
    const chains = entries.map(([id]) => id);
    const client = openClient(settings, key);
    await using end = new AsyncDisposableStack();
    end.defer(() => client.close());
    let reported: number | null = null;
    for (const lane of lanes.filter((one) => chains.includes(one.lane.chain_id))) {
      await delay(1000 / key.requestsPerSecond, undefined, { signal });
      const answer = await requestSample(client, lane, signal);
      answers.push(answer);
      reported = answer.creditsLeft ?? reported;
    }
    credits.push({ chains, ...(await creditsOf(key, reported, pool)) });
  }
  return { answers, credits };
}

/** The service rounds its time down to a second: adding half of one halves the error. */
const halfSecondMs = 500;

/** What one feed answers to a request for its smallest page. */
async function requestSample(
  client: ExplorerClient,
  { lane, scope }: ConfiguredLane,
  signal: AbortSignal,
) {
  const example = kindOf(lane.operation).walkScope(scope);
  const smallest = operations[lane.operation].request(example, null, 1);
  let [creditsLeft, aheadMs] = [null, null] as (number | null)[];
  const attempt = async () => {
    const sentMs = Date.now();
    const reply = await client.send({ chainId: lane.chain_id, ...smallest }, { signal });
    const { error, limits, serviceMs, latencyMs, body } = reply;
    creditsLeft = limits.creditsRemaining;
    aheadMs = serviceMs === null ? null : clockAhead(serviceMs + halfSecondMs, sentMs, Date.now());
    if (error !== null) throw error;
    parseBody(body);
    return { latencyMs };
  };
  const answer = await client.repeat(attempt, { signal }).catch((error: unknown) => {
    if (error instanceof ExplorerError) return error;
    throw error;
  });
  return { feed: feedName(lane), answer, creditsLeft, aheadMs };
}

/** The explorer's clock, its latency, and one check for all feeds that fail for the same reason. */
function checkAnswers(answers: readonly FeedAnswer[], { explorer }: Settings): Check[] {
  const { host } = new URL(explorer.baseUrl);
  const aheadMs = answers.find((answer) => answer.aheadMs !== null)?.aheadMs ?? null;
  const clock = aheadMs === null ? [] : [checkClock('explorer clock', aheadMs)];
  const alike = Map.groupBy(answers, ({ answer }) => 'message' in answer && answer.message);
  const checks = [...alike.values()].map((same): Check => {
    const feeds = same.map(({ feed }) => feed);
    const error = same.map(({ answer }) => answer).find((one) => one instanceof ExplorerError);
    if (error === undefined) {
      const times = same.flatMap(({ answer }) => ('latencyMs' in answer ? answer.latencyMs : []));
      const [least, most] = [whole(Math.min(...times)), whole(Math.max(...times))];
      const range = least === most ? most : `${least} to ${most}`;
      const some = same.length === answers.length ? '' : `${same.length} of `;
      const all = counted(answers.length, 'feed');
      return checkOf('explorer', `${host}: ${some}${all} answered in ${range} ms`);
    }
    const { failure, message } = error;
    const isAway = failure === 'unreachable';
    const advice = isAway ? 'Check the network and EXPLORER_BASE_URL.' : failures[failure].advice;
    const names = feeds.length === 1 ? feeds[0] : `${feeds.length} feeds (${feeds.join(', ')})`;
    const text = `${names} of ${host}: ${message}. ${advice}`;
    return { ...checkOf('explorer', text, 'failed'), feeds, failure };
  });
  return [...clock, ...checks];
}

function checkCredits(key: Key, _at: number, { length: keys }: readonly Key[]): Check[] {
  const { chains, credits_left: left, credits_spent_today: spent } = key;
  const parts = [
    ...(left === null ? [] : [`${whole(left)} left today`]),
    ...(spent === null ? [] : [`${whole(spent)} spent today by this database`]),
  ];
  if (parts.length === 0) return [];
  const ofChains = `${chains.length === 1 ? 'chain' : 'chains'} ${chains.join(', ')}`;
  const of = keys === 1 ? '' : `key of ${ofChains}: `;
  return [checkOf('credits', of + parts.join(', '))];
}

/** What is left of a key's day: the smaller of the service's count and ours. */
async function creditsOf(
  { apiKey, dailyCredits }: ApiKey,
  reported: number | null,
  pool: OpenDatabase['pool'],
): Promise<Omit<Key, 'chains'>> {
  const spending = await unlessDenied(async () => {
    if (!(await isPrepared(pool))) return null;
    return (await readSpending(pool, apiKey)) ?? { credits_spent: 0, credits_remaining: null };
  });
  const spent = spending?.credits_spent ?? null;
  const left = [
    reported ?? spending?.credits_remaining ?? null,
    dailyCredits === null ? null : Math.max(0, dailyCredits - (spent ?? 0)),
  ].filter((credits) => credits !== null);
  return {
    credits_left: left.length === 0 ? null : Math.floor(Math.min(...left)),
    credits_spent_today: spent,
  };
}
