import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { openEngine, prepareDatabase, type SourceOptions } from '../app.ts';
import { requireApiKey, secretsOf, type Settings } from '../config/settings.ts';
import { describeDatabaseError, isConnectionLost } from '../db/failure.ts';
import { whileCurrent } from '../db/migrate.ts';
import type { HttpServer } from '../http/server.ts';
import type { Log } from '../log.ts';
import { configuredFeeds, configuredLanes, nextPoll, withTargets } from '../sync/feeds.ts';
import { serve } from '../sync/serve.ts';
import type { Context, Exit, Registry } from './context.ts';
import { workSettings, DatabaseUnavailableError, openDatabase } from './database.ts';
import { failureOf, linesOf, writeFailure } from './failure.ts';
import { addHttp, type HttpFlag, servePage, urlOf, wantedAddress } from './open.ts';
import { addSameData } from './options.ts';
import { formatOf, logOf } from './screen.ts';

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
  addHttp(addSameData(command), 'serve the page, health and metrics too; default: 127.0.0.1:4400');
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
  const readyAt = await workOn({ context, options, settings, log, page });
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
}

/** @returns when it was ready; null: a signal came first */
async function workOn({ context, options, settings, log, page }: Work): Promise<Date | null> {
  const opened = await awaitEngine({ context, options, settings, log, page });
  if (opened === null) return null;
  await using _end = opened.end;
  const { database, engine } = opened;
  const lanes = configuredLanes(await withTargets(database.db, settings.chains));
  const readyAt = new Date();
  const feeds = configuredFeeds(settings.chains);
  log.write('start.ready', {
    feeds: feeds.length,
    chains: new Set(feeds.map(({ chain_id }) => chain_id)).size,
    next_poll: nextPoll(configuredLanes(settings.chains), readyAt)?.toISOString() ?? null,
  });
  await whileCurrent(engine.pool, context.signal, (signal) =>
    serve(lanes, engine, signal, () => page?.pulse.beat()),
  );
  log.write('start.stopped', {});
  return readyAt;
}

/** The first wait for an unreachable database, in ms, doubled up to the longest one. */
const firstWaitMs = 500;
const longestWaitMs = 15_000;
/** About ten minutes: a recovering server takes some; a wrong host name must end in an error. */
const mostAttempts = 45;

/**
 * Opens the engine; waits while the database is unreachable, as machines start in any order. Other errors, such as a
 * wrong password, are thrown at once. @returns null: the signal aborted first
 */
async function awaitEngine(opening: Work) {
  const { signal } = opening.context;
  for (let attempt = 1; ; attempt += 1) {
    if (signal.aborted) return null;
    try {
      const opened = await openAll(opening);
      if (attempt > 1) opening.log.write('database.back', {});
      return opened;
    } catch (error) {
      if (signal.aborted) return null;
      const root = error instanceof DatabaseUnavailableError ? error.cause : error;
      if (!isConnectionLost(root) || attempt === mostAttempts) throw error;
      const waitMs = Math.min(longestWaitMs, firstWaitMs * 2 ** (attempt - 1));
      opening.log.write('database.away', {
        error: describeDatabaseError(root),
        again_in_ms: waitMs,
      });
      await delay(waitMs, undefined, { signal }).catch(() => undefined);
    }
  }
}

async function openAll({ context, options, settings, log, page }: Work) {
  await using end = new AsyncDisposableStack();
  const database = end.use(await openDatabase(settings, context));
  const { embedded, url } = database;
  page?.use(url);
  if (embedded !== null) log.write('database.embedded', { folder: embedded.dataDirectory });
  const report = (reason: string) => log.write('database.locked', { reason });
  await prepareDatabase(database, { signal: context.signal, report });
  const engine = await openEngine({ settings, database, log, supervise: true, source: options });
  end.use(engine);
  return { database, engine, end: end.move() };
}
