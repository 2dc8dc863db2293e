import { setTimeout as delay } from 'node:timers/promises';
import type { Pool } from 'pg';
import { z } from 'zod';
import { openClient } from '../app.ts';
import { asTyped } from '../config/load.ts';
import { exposureOf } from '../config/schema.ts';
import { misnamed } from '../config/select.ts';
import { requireApiKey, type Settings } from '../config/settings.ts';
import {
  describeDatabaseError,
  isConnectionLost,
  isPermissionDenied,
  newerDatabase,
} from '../db/failure.ts';
import { dataProblems, problemsOf } from '../db/fitness.ts';
import { demandServer, readSchema } from '../db/migrate.ts';
import { applicationName, createPool } from '../db/pool.ts';
import { parseUrl } from '../db/url.ts';
import { isAtWork } from '../status/lanes.ts';
import { disagreementError, disagreements } from '../sync/lanes.ts';
import { presentWorkers } from '../sync/workers.ts';
import { creditsPerRequest } from '../explorer/budget.ts';
import type { ExplorerClient } from '../explorer/client.ts';
import { countRequest } from '../explorer/count-request.ts';
import { readDirectory } from '../explorer/directory.ts';
import { ExplorerError, failureIn } from '../explorer/error.ts';
import { failures, KnownError } from '../failure.ts';
import { feedName } from '../lists/feed.ts';
import { kindOf } from '../lists/index.ts';
import { operations } from '../lists/registry.ts';
import { configuredFeeds, type ConfiguredLane, configuredLanes } from '../sync/feeds.ts';
import { type Look, nextLine, paint, prose } from '../terminal/layout.ts';
import { counted } from '../terminal/numbers.ts';
import { type Context, exits, type Registry } from './context.ts';
import { openFor, type OpenDatabase } from './database.ts';
import { demandMeant, terminalOf } from './dialogue.ts';
import { ownOrDemo } from './demo-world.ts';
import { addFeedOptions, type ChosenFeeds } from './options.ts';
import { rowsOf } from '../db/transaction.ts';

const checkSchema = z.strictObject({
  name: z.enum(['configuration', 'database', 'schema', 'explorer']),
  state: z.enum(['ok', 'failed']),
  message: z.string(),
  /** The feeds with this failure, and its class. */
  feeds: z.array(z.string()),
  failure: z.string().nullable(),
});
export type Check = z.infer<typeof checkSchema>;

export const checkDocument = z.strictObject({
  schema: z.literal('explorer-etl/check/3'),
  checks: z.array(checkSchema),
});

interface CheckOptions extends ChosenFeeds {
  readonly requests: boolean;
}

export function register({ command, run, explain }: Registry): void {
  addFeedOptions(command)
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
  // The demo's explorer ends with the demo.
  const isTested = options.requests && !context.demo;
  const served = isTested ? await readDirectory(settings.explorer, context.signal) : [];
  await demandMeant(misnamed(chains, served), terminalOf(context), context.signal);
  await using database = await openFor(settings, context, 'previews');
  const file = configFile === null ? 'no file, flags only' : asTyped(configFile, context.cwd);
  const feeds = counted(configuredFeeds(chains).length, 'feed');
  const exposure = exposureOf(settings.explorer.baseUrl);
  const checks = [
    checkOf(
      'configuration',
      `${file}: ${counted(chains.length, 'chain')}, ${feeds}${exposure === null ? '' : `; warning: ${exposure}`}`,
    ),
    ...(await checkDatabase(database, settings)),
    ...(isTested
      ? await checkFeeds(settings, database.pool, context.signal)
      : [checkOf('explorer', 'not tested')]),
  ];
  // Without a file, the flags are needed each time.
  const next = configFile === null ? 'explorer-etl init' : 'explorer-etl sync';
  const text = checkText(checks, context.out, context.commandLine(next));
  const exit = hasFailed(checks) ? exits.failed : exits.done;
  return context.print(checkDocument, { checks }, text, exit);
}

const hasFailed = (checks: readonly Check[]) => checks.some(({ state }) => state === 'failed');

/** A line for each check; then the next command, unless one check failed. */
export function checkText(checks: readonly Check[], look: Look, next: string): string {
  const lines = checks.flatMap(({ name, state, message }) => {
    const label = state === 'ok' ? paint(look, 'good', 'ok    ') : paint(look, 'bad', 'FAIL  ');
    return prose(look, `${label}${name}: ${message}`);
  });
  const end = hasFailed(checks) ? [] : ['', nextLine(look, next)];
  return `${[...lines, ...end].join('\n')}\n`;
}

export const checkOf = (
  name: Check['name'],
  message: string,
  state: Check['state'] = 'ok',
): Check => ({ name, state, message, feeds: [], failure: null });

/** The server and the database, up to the first failure that hides others. */
async function checkDatabase(database: OpenDatabase, settings: Settings): Promise<Check[]> {
  const { pool } = database;
  const server = await checkServer(database);
  if (server.state === 'failed') return [server];
  const state = await readSchema(pool).catch((error: unknown) => {
    if (isPermissionDenied(error)) return null;
    throw error;
  });
  const isMigrated = state === null || state.missing.length === 0;
  const isNew = state?.applied === 0;
  const problems = await problemsOf(pool, 'rights', [isMigrated]);
  // A database that is behind has some tables, and lacks others.
  if (problems.length === 0 && (isMigrated || isNew))
    problems.push(...(await dataProblems(pool, isMigrated, state?.lost)));
  // The statements of what follows need all tables and columns.
  if (problems.length === 0) {
    problems.push(...(await connectionProblems(database, settings, isMigrated)));
    if (isMigrated) problems.push(...(await conflicts(database, settings)));
  }
  const failed = problems.map((problem) => checkOf('database', problem, 'failed'));
  return [server, checkSchemaState(state), ...failed];
}

/** Why `start` and `sync` are refused: another deployment at work wants a feed otherwise. */
async function conflicts(
  { db }: OpenDatabase,
  { chains, deployment }: Settings,
): Promise<string[]> {
  const found = await disagreements(db, configuredFeeds(chains), deployment);
  return found.length === 0 ? [] : [disagreementError(found).message];
}

/** Why a process that works gets fewer connections than it needs, and what to run. */
async function connectionProblems(
  { pool, url, db }: OpenDatabase,
  { connections: max }: Pick<Settings, 'connections'>,
  isMigrated: boolean,
): Promise<string[]> {
  // They have theirs, and as many again may be too many.
  if (isMigrated && isAtWork(await presentWorkers(db))) return [];
  const all = createPool({ url, max, applicationName, isPooled: true });
  const opened = await Promise.allSettled(Array.from({ length: max }, () => all.connect()));
  for (const one of opened) if (one.status === 'fulfilled') one.value.release();
  await all.end();
  const refused = opened.filter((one) => one.status === 'rejected');
  if (refused.length === 0) return [];
  const why = describeDatabaseError(refused[0]?.reason);
  const remedies = await problemsOf(pool, 'connections', [max]);
  const found = `${max - refused.length} of ${max} connections opened: ${why}`;
  return remedies.map((remedy) => `${found}; ${remedy}`);
}

/** The server, and whether this program can work on it. */
async function checkServer({ pool, url, embedded }: OpenDatabase): Promise<Check> {
  const rows = await rowsOf(
    pool,
    () => z.object({ version: z.string(), name: z.string() }),
    "select current_setting('server_version') as version, current_database() as name",
  );
  const { hostname, port, searchParams } = parseUrl(url);
  const host = searchParams.get('host') ?? decodeURIComponent(hostname);
  const place = `${rows[0]?.name} on ${host}${port === '' ? '' : `:${port}`}`;
  const found = `${place}, Postgres ${rows[0]?.version}${embedded === null ? '' : ', embedded'}`;
  try {
    await demandServer(pool);
    return checkOf('database', found);
  } catch (error) {
    if (!(error instanceof KnownError || isConnectionLost(error))) throw error;
    const problem = error instanceof KnownError ? error.message : describeDatabaseError(error);
    return checkOf('database', `${found}: ${problem}`, 'failed');
  }
}

function checkSchemaState(state: Awaited<ReturnType<typeof readSchema>> | null): Check {
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

/** Requests each feed's smallest page; the requests count for the key's day. @throws ConfigError if a key is not set */
async function checkFeeds(settings: Settings, pool: Pool, signal: AbortSignal): Promise<Check[]> {
  const keys = requireApiKey(settings);
  const answers: FeedAnswer[] = [];
  // Every feed has a backfill lane: one request covers both of its lanes.
  const lanes = configuredLanes(settings.chains).filter(({ lane }) => lane.lane === 'backfill');
  for (const key of new Set(keys.values())) {
    const client = openClient(settings, key);
    await using end = new AsyncDisposableStack();
    end.defer(() => client.close());
    for (const lane of lanes.filter((one) => keys.get(one.lane.chain_id) === key)) {
      await delay(1000 / key.requestsPerSecond, undefined, { signal });
      const onSent = () => countRequest(pool, key).catch(() => undefined);
      answers.push(await requestSample({ ...client, onSent }, lane, signal));
    }
  }
  return checkAnswers(answers, settings);
}

type FeedAnswer = Awaited<ReturnType<typeof requestSample>>;

/** What one feed answers to a request for its smallest page; null: a page. */
async function requestSample(
  client: ExplorerClient & { readonly onSent: () => Promise<unknown> },
  { lane, scope }: ConfiguredLane,
  signal: AbortSignal,
) {
  const example = kindOf(lane.operation).sample(scope);
  const smallest = operations[lane.operation].request(example, null, 1);
  const attempt = async () => {
    const { result } = await client.send({ chainId: lane.chain_id, ...smallest }, { signal });
    const isFailed = result instanceof ExplorerError;
    if (!isFailed || result.isSent) await client.onSent();
    if (isFailed) throw result;
    return null;
  };
  const error = await client.repeat(attempt, { signal }).catch(failureIn);
  return { feed: feedName(lane), error };
}

/** One check for all feeds that fail for the same reason, and one for those that answer. */
function checkAnswers(answers: readonly FeedAnswer[], { explorer }: Settings): Check[] {
  const { host } = new URL(explorer.baseUrl);
  const alike = Map.groupBy(answers, ({ error }) => error?.message);
  return [...alike.values()].map((same): Check => {
    const feeds = same.map(({ feed }) => feed);
    const error = same[0]?.error ?? null;
    if (error === null) {
      const some = same.length === answers.length ? '' : `${same.length} of `;
      return checkOf('explorer', `${host}: ${some}${counted(answers.length, 'feed')} answered`);
    }
    const { failure, message } = error;
    const isAway = failure === 'unreachable';
    const advice = isAway ? 'Check the network and EXPLORER_BASE_URL.' : failures[failure].advice;
    const names = feeds.length === 1 ? feeds[0] : `${feeds.length} feeds (${feeds.join(', ')})`;
    const text = `${names} of ${host}: ${message}. ${advice}`;
    return { ...checkOf('explorer', text, 'failed'), feeds, failure };
  });
}
