import type { SourceOptions } from '../app.ts';
import { secretsOf } from '../config/secrets.ts';
import { requireApiKey, type Settings } from '../config/settings.ts';
import { whileCurrent } from '../db/version.ts';
import type { HttpServer } from '../http/server.ts';
import type { Log } from '../log.ts';
import { serve } from '../sync/serve.ts';
import {
  configuredFeeds,
  configuredLanes,
  reconcileTargets,
  nextPoll,
  withTargets,
} from '../sync/targets.ts';
import { awaitEngine } from './await-engine.ts';
import { addSameData } from './chosen-feeds.ts';
import {
  type Context,
  type ExitCode,
  type GlobalOptions,
  type Registry,
  writeDocument,
} from './context.ts';
import { exits } from './exits.ts';
import { failureOf, writeFailure } from './failure.ts';
import { addHttp, type HttpFlag, servePage, urlOf, wantedAddress } from './http.ts';
import { watchConfig } from './reload.ts';
import { formatOf, logOf, settingsOf } from './setup.ts';

/** `start`: works on every feed by its schedule until SIGTERM. */
export function registerStart({ command, run }: Registry): void {
  addHttp(addSameData(command), 'serve the page, health and metrics too; default: 127.0.0.1:4400')
    .addHelpText(
      'after',
      '\nAny number of these, on any number of machines, share the work of one database.\nSIGHUP makes it read its configuration again.\n\nExamples:\n  explorer-etl start\n  explorer-etl start --http\n',
    )
    .action(run<SourceOptions & HttpFlag>(start));
}

type StartOptions = SourceOptions & HttpFlag & GlobalOptions;

/** Where a program reads the log, also why it ends is a line of it. */
async function start(context: Context, options: StartOptions): Promise<ExitCode> {
  const log = logOf(context, options);
  // Why it ends is told also where nothing else is to be.
  const isText = formatOf(context, options) === 'pretty' || options.logLevel === 'silent';
  if (isText) return work(context, options, log);
  try {
    return await work(context, options, log);
  } catch (error) {
    if (context.signal.aborted && error === context.signal.reason) throw error;
    const failure = failureOf(error, options);
    log.tell('start.failed', {
      problems: failure.errors.map(({ where, message, hint }) =>
        [where === null ? message : `${where}: ${message}`, hint ?? ''].join(' ').trimEnd(),
      ),
    });
    return options.json ? writeFailure(context, failure) : failure.exit.code;
  }
}

async function work(context: Context, options: StartOptions, log: Log): Promise<ExitCode> {
  const settings = settingsOf(context, options);
  log.conceal(secretsOf(settings));
  requireApiKey(settings);
  const page = await openPage(context, options, settings, log);
  try {
    return await workOn({ context, options, settings, log, page });
  } finally {
    await page?.close();
  }
}

/** The page is there before the database is: it says that it waits. */
async function openPage(
  context: Context,
  options: StartOptions,
  settings: Settings,
  log: Log,
): Promise<HttpServer | null> {
  const address = wantedAddress(options, settings);
  if (address === null) return null;
  const metricsAddress = settings.http.metrics;
  const page = await servePage(context, address, { settings, works: true, metricsAddress });
  if (settings.databaseUrl !== null) {
    page.use({ url: settings.databaseUrl, directUrl: settings.directUrl });
  }
  log.tell('http.listening', { url: urlOf(page) });
  return page;
}

interface Work {
  readonly context: Context;
  readonly options: StartOptions;
  readonly settings: Settings;
  readonly log: Log;
  readonly page: HttpServer | null;
}

async function workOn({ context, options, settings, log, page }: Work): Promise<ExitCode> {
  const changesOf = watchConfig(context, options, { http: settings.http, log });
  const opened = await awaitEngine(settings, context, log, {
    source: options,
    onOpen: ({ embedded, url }) => {
      page?.use({ url, directUrl: embedded === null ? settings.directUrl : null });
      if (embedded !== null) log.tell('database.embedded', { folder: embedded.dataDirectory });
    },
  });
  let readyAt: Date | null = null;
  if (opened === null) return end(context, options, readyAt);
  const { database, engine } = opened;
  try {
    const lanes = configuredLanes(await withTargets(database.db, settings.chains));
    if (settings.configFile === null) await reconcileTargets(database.db, lanes);
    readyAt = new Date();
    tellReady(settings, log);
    await whileCurrent(database.pool, context.signal, (signal) =>
      serve(lanes, engine, signal, {
        changes: changesOf(engine),
        onRound: () => page?.pulse.beat(),
      }),
    );
    log.tell('start.stopped', {});
  } finally {
    await engine.close();
    await database.close();
  }
  return end(context, options, readyAt);
}

function tellReady({ chains }: Settings, log: Log): void {
  const feeds = configuredFeeds(chains);
  log.tell('start.ready', {
    feeds: feeds.length,
    chains: new Set(feeds.map(({ chain_id }) => chain_id)).size,
    next_poll: nextPoll(configuredLanes(chains), new Date())?.toISOString() ?? null,
  });
}

/** A signal is how it is told to end: nothing was interrupted. */
function end(context: Context, { json }: GlobalOptions, readyAt: Date | null): ExitCode {
  if (json) {
    writeDocument(context, {
      schema: 'explorer-etl/start/1',
      exit: exits.done,
      ready_at: readyAt?.toISOString() ?? null,
      stopped_at: new Date().toISOString(),
    });
  }
  return exits.done.code;
}
