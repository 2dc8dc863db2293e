import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { directUrlOf, openClient } from '../app.ts';
import { asTyped } from '../config/load.ts';
import { type ApiKey, requireApiKey, type Settings } from '../config/settings.ts';
import { describeDatabaseError, isConnectionLost, isPermissionDenied } from '../db/failure.ts';
import { readSchemaState, serverProblem } from '../db/migrate.ts';
import { newerDatabase } from '../db/migration-error.ts';
import { isPrepared } from '../db/prepared.ts';
import { findWays, PoolerError } from '../db/route.ts';
import { readStandby, StandbyError } from '../db/standby.ts';
import { parseUrl } from '../db/timeouts.ts';
import { readSpending } from '../explorer/budget.ts';
import type { ExplorerClient } from '../explorer/client.ts';
import { ExplorerError } from '../explorer/error.ts';
import { parseBody } from '../explorer/response.ts';
import { failures } from '../failure.ts';
import { feedName } from '../lists/feed.ts';
import { kindOf } from '../lists/index.ts';
import { operations } from '../lists/registry.ts';
import { openDatabase, type OpenDatabase } from '../open-database.ts';
import { printable } from '../printable.ts';
import { creditsPerPage } from '../sync/ledger.ts';
import { type ConfiguredLane, configuredFeeds, configuredLanes } from '../sync/targets.ts';
import { type Look, paint } from '../terminal/look.ts';
import { counted, duration, whole } from '../terminal/numbers.ts';
import { prose } from '../terminal/layout.ts';
import {
  addFeedOptions,
  type ChosenFeeds,
  addExamples,
  addDemo,
  type DemoOption,
} from './options.ts';
import {
  commandLineOf,
  type Context,
  exits,
  type GlobalOptions,
  type Registry,
} from './context.ts';
import { demoSettings } from './demo-world.ts';
import { placeOf, settingsOf } from './database.ts';
import { printAnswer } from './print.ts';

const count = z.int().min(0);

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

interface CheckOptions extends ChosenFeeds, DemoOption, GlobalOptions {
  readonly requests: boolean;
}

export function register({ command, run }: Registry): void {
  addDemo(addFeedOptions(command))
    .option('--no-requests', `make no request (each feed's costs ${creditsPerPage} credits)`)
    .action(run(check));
  addExamples(command, ['explorer-etl check', 'explorer-etl check --chain optimism --no-requests']);
}

async function check(context: Context, options: CheckOptions) {
  const isDemo = options.demo === true;
  const settings = isDemo ? demoSettings(context, options) : settingsOf(context, options);
  const { configFile, chains } = settings;
  const place = await placeOf(context, settings, options);
  const database = await openDatabase(settings, place);
  try {
    const file = configFile === null ? 'no file, flags only' : asTyped(configFile, context.cwd);
    const feeds = counted(configuredFeeds(chains).length, 'feed');
    const stored = await checkDatabase(settings, database);
    // The demo's explorer ends with the demo.
    const { served, keys } =
      options.requests && !isDemo
        ? await checkExplorer(settings, database, context.signal)
        : { served: [checkOf('explorer', 'not tested')], keys: [] };
    const found = `${file}: ${counted(chains.length, 'chain')}, ${feeds}`;
    const checks = [checkOf('configuration', found), ...stored, ...served];
    // Without a file, the flags are needed each time.
    const next = configFile === null ? 'explorer-etl init' : 'explorer-etl sync';
    return printAnswer(context, options, {
      schema: checkDocument,
      fields: { checks, keys },
      text: () => checkText(checks, context.out, commandLineOf(place)(next)),
      exit: hasFailed(checks) ? exits.failed : exits.done,
    });
  } finally {
    await database.close();
  }
}

const hasFailed = (checks: readonly Check[]) => checks.some(({ state }) => state === 'failed');

const labels = { ok: 'ok    ', failed: 'FAIL  ', warning: 'warn  ' } as const;
const styles = { ok: 'good', failed: 'bad', warning: 'warning' } as const;

/** A line for each check; then the next command, unless one check failed. */
export function checkText(checks: readonly Check[], look: Look, next: string): string {
  const lines = checks.flatMap(({ name, state, message }) => {
    const label = paint(look, styles[state], labels[state]);
    return prose(look, label + printable(`${name}: ${message}`));
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
export const clockAhead = (shownMs: number, between: Record<'beforeMs' | 'afterMs', number>) =>
  Math.round(shownMs - (between.beforeMs + between.afterMs) / 2);

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
  const aheadMs = clockAhead(Number(server.now_ms), { beforeMs, afterMs: Date.now() });
  const isStandby = (await readStandby(pool)) !== null;
  const { hostname, port, searchParams } = parseUrl(url);
  const host = searchParams.get('host') ?? decodeURIComponent(hostname);
  const place = `${server.name} on ${host}${port === '' ? '' : `:${port}`}`;
  const found = `${place}, Postgres ${server.version}${embedded === null ? '' : ', embedded'}`;
  const problem =
    serverProblem(Number(server.number), server.version) ??
    (isStandby ? new StandbyError().message : null);
  const isOk = problem === null;
  return [
    checkOf('database', isOk ? found : `${found}: ${problem}`, isOk ? 'ok' : 'failed'),
    await checkSchemaState(database),
    // The connection is tested by writing, which a standby refuses.
    ...(isStandby ? [] : await checkRoute(settings, database)),
    checkClock('database clock', aheadMs),
  ];
}

async function checkSchemaState({ pool }: OpenDatabase): Promise<Check> {
  const state = await unlessDenied(() => readSchemaState(pool));
  if (state === null) return checkOf('schema', 'this role may not look at the migrations');
  const { applied, of_program: all, missing, ahead, schema_version: version } = state;
  const total = counted(all, 'migration');
  if (applied === 0)
    return checkOf('schema', `none yet; sync, start or migrate creates it (${total})`);
  const found = `${all - missing} of ${total} applied, version ${version}`;
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

/** Tests each feed's smallest page and each key's credits. @throws ConfigError if a key is not set */
async function checkExplorer(settings: Settings, database: OpenDatabase, signal: AbortSignal) {
  const { host } = new URL(settings.explorer.baseUrl);
  const answers: FeedAnswer[] = [];
  const keys: Key[] = [];
  for (const [key, entries] of Map.groupBy(requireApiKey(settings), ([, used]) => used)) {
    const chains = entries.map(([id]) => id);
    const found = await checkFeeds(key, chains, settings, signal);
    answers.push(...found);
    const reported = found.findLast(({ creditsLeft }) => creditsLeft !== null)?.creditsLeft ?? null;
    keys.push({ chains, ...(await creditsOf(key, reported, database)) });
  }
  const ahead = answers.find(({ aheadMs }) => aheadMs !== null)?.aheadMs ?? null;
  const served = [
    ...(ahead === null ? [] : [checkClock('explorer clock', ahead)]),
    ...latencyCheck(answers, host),
    ...failureChecks(answers, host),
    ...keys.flatMap((key) => creditsCheck(key, keys.length)),
  ];
  return { served, keys };
}

type FeedAnswer = Awaited<ReturnType<typeof checkFeed>>;

async function checkFeeds(
  key: ApiKey,
  chains: readonly number[],
  settings: Settings,
  signal: AbortSignal,
): Promise<FeedAnswer[]> {
  const answers: FeedAnswer[] = [];
  const client = openClient(settings, key);
  try {
    // Every feed has a backfill lane: one request covers both of its lanes.
    const lanes = configuredLanes(settings.chains).filter(
      ({ lane }) => lane.lane === 'backfill' && chains.includes(lane.chain_id),
    );
    for (const lane of lanes) {
      await delay(1000 / key.requestsPerSecond, undefined, { signal });
      answers.push(await checkFeed(client, lane, signal));
    }
  } finally {
    await client.close();
  }
  return answers;
}

/** The service rounds its time down to a second: adding half of one halves the error. */
const halfSecondMs = 500;

async function checkFeed(
  client: ExplorerClient,
  { lane, scope }: ConfiguredLane,
  signal: AbortSignal,
) {
  const example = kindOf(lane.operation).walkScope(scope);
  const smallest = operations[lane.operation].request(example, null, 1);
  const answer = {
    feed: feedName(lane),
    error: null as ExplorerError | null,
    latencyMs: 0,
    creditsLeft: null as number | null,
    aheadMs: null as number | null,
  };
  try {
    const { latencyMs } = await client.get(
      { chainId: lane.chain_id, ...smallest },
      {
        admit: async () => Date.now(),
        report: async ({ admission: beforeMs, limits, serviceMs }) => {
          answer.creditsLeft = limits.creditsRemaining;
          if (serviceMs === null) return;
          const afterMs = Date.now();
          answer.aheadMs = clockAhead(serviceMs + halfSecondMs, { beforeMs, afterMs });
        },
        read: parseBody,
        signal,
      },
    );
    answer.latencyMs = latencyMs;
  } catch (error) {
    if (!(error instanceof ExplorerError)) throw error;
    answer.error = error;
  }
  return answer;
}

function latencyCheck(answers: readonly FeedAnswer[], host: string): Check[] {
  const times = answers.flatMap(({ error, latencyMs }) => (error === null ? [latencyMs] : []));
  if (times.length === 0) return [];
  const [least, most] = [whole(Math.min(...times)), whole(Math.max(...times))];
  const range = least === most ? most : `${least} to ${most}`;
  const some = times.length === answers.length ? '' : `${times.length} of `;
  const feeds = counted(answers.length, 'feed');
  return [checkOf('explorer', `${host}: ${some}${feeds} answered in ${range} ms`)];
}

/** One check for all feeds that fail for the same reason. */
function failureChecks(answers: readonly FeedAnswer[], host: string): Check[] {
  const alike = Map.groupBy(answers, ({ error }) => error?.message);
  return [...alike.values()].flatMap((same) => {
    const error = same[0]?.error;
    if (error === undefined || error === null) return [];
    const { failure, message } = error;
    const isAway = failure === 'unreachable';
    const advice = isAway ? 'Check the network and EXPLORER_BASE_URL.' : failures[failure].advice;
    const feeds = same.map(({ feed }) => feed);
    const names = feeds.length === 1 ? feeds[0] : `${feeds.length} feeds (${feeds.join(', ')})`;
    const text = `${names} of ${host}: ${message}. ${advice}`;
    return [{ ...checkOf('explorer', text, 'failed'), feeds, failure }];
  });
}

function creditsCheck(key: Key, keys: number): Check[] {
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
  { pool }: OpenDatabase,
): Promise<Omit<Key, 'chains'>> {
  const spending = await unlessDenied(async () => {
    if (!(await isPrepared(pool))) return null;
    return (await readSpending(pool, apiKey)) ?? { credits_spent: 0, credits_remaining: null };
  });
  const spent = spending?.credits_spent ?? null;
  const own = dailyCredits === null ? null : Math.max(0, dailyCredits - (spent ?? 0));
  const left = [reported ?? spending?.credits_remaining ?? null, own].filter(
    (credits) => credits !== null,
  );
  return {
    credits_left: left.length === 0 ? null : Math.floor(Math.min(...left)),
    credits_spent_today: spent,
  };
}
