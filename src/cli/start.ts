import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { type Engine, openEngine, prepareDatabase, type SourceOptions } from '../app.ts';
import { requireApiKey, secretsOf, type Settings } from '../config/settings.ts';
import { ConfigError } from '../config/environment.ts';
import { explainDatabaseError, isConnectionLost, isLastingFault } from '../db/failure.ts';
import { whileCurrent } from '../db/migrate.ts';
import type { HttpServer } from '../http/server.ts';
import type { Log } from '../log.ts';
import { configuredFeeds, configuredLanes, nextPoll, withTargets } from '../sync/feeds.ts';
import { type OnRound, serve } from '../sync/serve.ts';
import { readDeployments } from '../sync/workers.ts';
import type { Context, Exit, Registry } from './context.ts';
import { DatabaseUnavailableError, openDatabase, readSettings, workSettings } from './database.ts';
import { failureOf, linesOf, writeFailure } from './failure.ts';
import { addHttp, type HttpFlag, servePage, urlOf, wantedAddress } from './open.ts';
import { addFlags } from './options.ts';
import { formatOf, logOf } from './screen.ts';
import { deploymentText } from './status.ts';

/** `start --json`, without `exit`: written at the end. */
export const startDocument = z.strictObject({
  schema: z.literal('explorer-etl/start/1'),
  /** When work began; null: a signal came before the database answered. */
  ready_at: z.string().nullable(),
  stopped_at: z.string(),
});

type StartOptions = SourceOptions & HttpFlag;

/** `start`: polls and backfills every feed by its schedule until SIGTERM. */
export function register({ command, run, explain }: Registry): void {
  addHttp(
    addFlags(command, 'sameData', 'takeOver'),
    'serve the page, health and metrics too; default: 127.0.0.1:4400',
  );
  command.action(run<StartOptions>(start));
  explain(
    ['explorer-etl start', 'explorer-etl start --http'],
    'Several start processes, also on several machines, share the work on one database.',
  );
}

/** Runs until a signal; a log for programs also gets the reason for the end. */
async function start(context: Context, options: StartOptions): Promise<Exit> {
  const log = logOf(context);
  const isText = formatOf(context) === 'pretty' || context.logLevel === 'silent';
  try {
    return await work(context, options, log);
  } catch (error) {
    if (isText || (context.signal.aborted && error === context.signal.reason)) throw error;
    const failure = failureOf(error, context);
    log.write('start.failed', { problems: linesOf(failure) });
    return context.json ? writeFailure(context, failure) : failure.exit;
  }
}

async function work(context: Context, options: StartOptions, log: Log): Promise<Exit> {
  const settings = await workSettings(context);
  log.conceal(secretsOf(settings));
  requireApiKey(settings);
  const address = wantedAddress(options, settings);
  // It is served before the database answers, and shows the wait.
  await using page = address && (await servePage(context, settings, { address, works: true }));
  if (page !== null) log.write('http.listening', { url: urlOf(page) });
  if (settings.databaseUrl !== null) page?.use(settings.databaseUrl);
  const workerId = randomUUID();
  const readyAt = await workOn({ context, options, settings, log, page, workerId });
  // A signal is the normal end of `start`.
  const times = { ready_at: readyAt?.toISOString() ?? null, stopped_at: new Date().toISOString() };
  return context.print(startDocument, times, '');
}

interface Work {
  readonly context: Context;
  readonly options: StartOptions;
  readonly settings: Settings;
  readonly log: Log;
  readonly page: HttpServer | null;
  /** The process stays the same when it opens its engine again. */
  readonly workerId: string;
}

/** The first wait for the database, in ms, doubled up to the longest one. */
const firstWaitMs = 500;
const longestWaitMs = 15_000;
/** About ten minutes: a recovering server takes some; a wrong host name must end in an error. */
const mostAttempts = 45;
/** Rounds, of three seconds, after which the database counts as usable again. */
const roundsUntilBack = 3;

/**
 * Works until the signal. Until it is ready it waits for a database that is unreachable, as machines start in any
 * order; other faults, such as a wrong password, are thrown at once. Later it waits for the end of every fault.
 * @returns when it was ready; null: a signal came first
 */
async function workOn(opening: Work): Promise<Date | null> {
  const { context, log, page } = opening;
  const { signal } = context;
  let readyAt: Date | null = null;
  for (let attempt = 1; !signal.aborted; attempt += 1) {
    let rounds = 0;
    const onRound = (isDone: boolean) => {
      page?.pulse.beat();
      if (isDone) rounds += 1;
      if (!isDone || rounds !== roundsUntilBack || attempt === 1) return;
      attempt = 1;
      page?.report(null);
      log.write('database.back', {});
    };
    try {
      await using engine = await openOwn(opening, readyAt !== null);
      readyAt ??= noteReady(opening);
      await serveAll(opening, engine, onRound);
      break;
    } catch (error) {
      if (signal.aborted) break;
      const root = error instanceof DatabaseUnavailableError ? error.cause : error;
      const isOver = readyAt === null && (attempt === mostAttempts || !isConnectionLost(root));
      if (isOver || !isWaitedFor(root)) throw error;
      page?.report(root);
      const again_in_ms = Math.min(longestWaitMs, firstWaitMs * 2 ** (attempt - 1));
      log.write('database.away', { error: explainDatabaseError(root), again_in_ms });
      await delay(again_in_ms, undefined, { signal }).catch(() => undefined);
    }
  }
  return readyAt;
}

/** Also the file of a secret that is absent while it is replaced. */
const isWaitedFor = (error: unknown): boolean =>
  isConnectionLost(error) || isLastingFault(error) || error instanceof ConfigError;

function noteReady({ settings, log }: Work): Date {
  const readyAt = new Date();
  const feeds = configuredFeeds(settings.chains);
  log.write('start.ready', {
    feeds: feeds.length,
    chains: new Set(feeds.map(({ chain_id }) => chain_id)).size,
    next_poll: nextPoll(configuredLanes(settings.chains), readyAt)?.toISOString() ?? null,
  });
  return readyAt;
}

async function serveAll({ context, settings, log }: Work, engine: Engine, onRound: OnRound) {
  const others = (await readDeployments(engine.db))
    .filter(({ name }) => name !== settings.deployment)
    .map(deploymentText);
  if (others.length > 0) log.write('start.beside', { detail: others.join('; ') });
  const lanes = configuredLanes(await withTargets(engine.db, settings));
  await whileCurrent(engine.pool, context.signal, (signal) =>
    serve(lanes, engine, signal, onRound),
  );
  log.write('start.stopped', {});
}

/**
 * Prepares the database and opens the engine on it. The connections that prepare it end with that: of the configured
 * ones they are the page's from then on. Reads `DATABASE_URL_FILE` each time: a password may be replaced.
 */
async function openOwn(
  { context, options, settings, log, page, workerId }: Work,
  isReopened: boolean,
): Promise<Engine> {
  const { databaseUrl } = readSettings({ ...context, config: null }, {}, 'database');
  await using database = await openDatabase({ databaseUrl }, context);
  const { embedded, url } = database;
  page?.use(url);
  if (embedded !== null) log.write('database.embedded', { folder: embedded.dataDirectory });
  const report = (reason: string) => log.write('database.locked', { reason });
  await prepareDatabase(database, { signal: context.signal, report });
  const source = { ...options, isWhole: true, isReopened };
  return await openEngine({ settings, database, log, workerId, source });
}
