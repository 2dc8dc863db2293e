import type { SourceOptions } from '../app.ts';
import { secretsOf } from '../config/secrets.ts';
import { requireApiKey, type Settings } from '../config/settings.ts';
import { whileCurrent } from '../db/version.ts';
import { configuredFeeds, configuredLanes } from '../feeds/lanes.ts';
import { nextPoll } from '../feeds/next-poll.ts';
import { followWishes } from '../feeds/wishes.ts';
import { serve } from '../jobs/serve.ts';
import type { Log } from '../log.ts';
import { awaitEngine } from './await-engine.ts';
import { addSameData } from './chosen-feeds.ts';
import { reportFailure } from './failure.ts';
import { watchConfig } from './reload.ts';
import {
  exitCodes,
  type Context,
  type ExitCode,
  type GlobalOptions,
  type Registry,
} from './context.ts';
import { formatOf, logOf, settingsOf } from './setup.ts';

/** `start`: works on every feed by its schedule until SIGTERM. */
export function registerStart({ command, run }: Registry): void {
  addSameData(command)
    .addHelpText(
      'after',
      '\nAny number of these, on any number of machines, share the work of one database.\nSIGHUP makes it read its configuration again.\n\nExample:\n  explorer-etl start --config explorer-etl.yaml\n',
    )
    .action(run<SourceOptions>(start));
}

type StartOptions = SourceOptions & GlobalOptions;

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
    const problems: string[] = [];
    const told = {
      ...context,
      stderr: (text: string) => void problems.push(text.replace(/^explorer-etl: /u, '').trimEnd()),
    };
    const code = reportFailure(error, told, options);
    log.tell('start.failed', { problems });
    return code;
  }
}

async function work(context: Context, options: StartOptions, log: Log): Promise<ExitCode> {
  const settings = settingsOf(context, options);
  log.conceal(secretsOf(settings));
  requireApiKey(settings);
  const changesOf = watchConfig(context, options, log);
  const opened = await awaitEngine(settings, context, log, {
    source: options,
    onOpen: ({ embedded }) => {
      if (embedded !== null) log.tell('database.embedded', { folder: embedded.dataDirectory });
    },
  });
  if (opened === null) return exitCodes.done;
  const { database, engine } = opened;
  try {
    const lanes = configuredLanes(settings.chains);
    if (settings.configFile === null) await followWishes(database.db, lanes);
    tellReady(settings, log);
    await whileCurrent(database.pool, context.signal, (signal) =>
      serve(lanes, engine, signal, changesOf(engine)),
    );
    log.tell('start.stopped', {});
    return exitCodes.done;
  } finally {
    await engine.close();
    await database.close();
  }
}

function tellReady({ chains }: Settings, log: Log): void {
  const feeds = configuredFeeds(chains);
  log.tell('start.ready', {
    feeds: feeds.length,
    chains: new Set(feeds.map(({ chain_id }) => chain_id)).size,
    next_poll: nextPoll(configuredLanes(chains), new Date())?.toISOString() ?? null,
  });
}
