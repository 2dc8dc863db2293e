import { openEngine, prepareDatabase, type SourceOptions } from '../app.ts';
import { requireApiKey, type Settings } from '../config/settings.ts';
import { whileCurrent } from '../db/version.ts';
import { isBoundedBy, kindOf } from '../lists/index.ts';
import type { ScopeBounds } from '../lists/list.ts';
import type { Log } from '../log.ts';
import type { OpenDatabase } from '../open-database.ts';
import { operationNames } from '../operations/index.ts';
import { syncOnce, type SyncResult, type SyncTarget } from '../sync/once.ts';
import { sumUp, tidyUp } from '../sync/serve.ts';
import { configuredLanes, reconcileTargets, withTargets } from '../sync/targets.ts';
import { momentForms, parseMoment } from '../time.ts';
import { addFeedOptions, addSameData, type ChosenFeeds, wholeNumber } from './chosen-feeds.ts';
import { type Concluded, concludeSync } from './conclude-sync.ts';
import {
  type Context,
  type ExitCode,
  exitCodes,
  type GlobalOptions,
  type Registry,
  UsageError,
  waitingOf,
} from './context.ts';
import { onDatabase } from './on-database.ts';
import { print } from './print.ts';
import { type Progress, showProgress, watchedFeeds } from './progress.ts';
import { openScreen } from './screen.ts';
import { logOf, settingsOf } from './setup.ts';
import { tellWhere } from './where.ts';

interface SyncOptions extends ChosenFeeds, Omit<ScopeBounds, 'since'>, SourceOptions {
  readonly since?: string;
}

/** What `--since` of `sync` and `backfill` says of itself. */
export const sinceHelp =
  'read newest-first lists back to this date or time, or so far back, such as 7d, or all; kept as their target';

/** `sync`: brings feeds up to date once, with progress, and exits. */
export function registerSync({ command, run }: Registry): void {
  addSameData(addFeedOptions(command))
    .option('--max-pages <n>', 'read at most this many pages of each list', wholeNumber(1))
    .option('--since <time>', sinceHelp)
    .option('--from-batch <n>', 'first Optimism batch to read', wholeNumber(0))
    .option('--to-batch <n>', 'last Optimism batch to read', wholeNumber(0))
    .addHelpText(
      'after',
      `
An interrupted sync resumes where it was when the same command is given again.
--since, --from-batch and --to-batch stay the target of the lists that they bound, until another
command or the file names another; --since all and --from-batch 1 take all there is.

Examples:
  explorer-etl sync
${examplesOf('sync')}`,
    )
    .action(run<SyncOptions>(sync));
}

async function sync(context: Context, options: SyncOptions & GlobalOptions): Promise<ExitCode> {
  const settings = settingsOf(context, options);
  requireApiKey(settings);
  const now = new Date();
  const wanted = (aimed: Settings) => targetsOf(aimed, options, now);
  const bounds = checkedBounds(options, now);
  const code = await syncOnDatabase('sync', context, options, { settings, bounds, wanted });
  if (code === exitCodes.done && !options.json && !options.quiet) {
    print(context, 'Look at it:  explorer-etl query --list    or in SQL:  explorer-etl db shell\n');
  }
  return code;
}

/** What a command is to bring up to date. */
interface Wanted {
  readonly settings: Settings;
  readonly bounds: ScopeBounds;
  /**
   * The lanes of settings that have their feeds' targets.
   *
   * @throws UsageError where flags make no sense
   */
  readonly wanted: (aimed: Settings) => readonly SyncTarget[];
}

/** Brings the database up to this program, then the lanes up to date, and tells how they ended. */
export function syncOnDatabase(
  command: Concluded['command'],
  context: Context,
  options: GlobalOptions & SourceOptions & ChosenFeeds,
  { settings, bounds, wanted }: Wanted,
): Promise<ExitCode> {
  // What is wrong with the flags is told before a database is opened.
  wanted(settings);
  return onDatabase(settings, context, 'writes', async (database) => {
    const begunAt = performance.now();
    tellWhere(context, options, database);
    await prepareDatabase(database, waitingOf(context));
    const chains = await withTargets(database.db, settings.chains, bounds);
    const aimed = { ...settings, chains };
    const targets = wanted(aimed);
    if (settings.configFile === null) await reconcileTargets(database.db, targets);
    const results = await syncTargets(context, options, { settings, bounds }, database, targets);
    return concludeSync(context, options, database, {
      command,
      settings: aimed,
      results,
      isNamed: options.operation !== undefined,
      begunAt,
    });
  });
}

/** Runs the sync itself on a prepared database, with progress as the options say. */
export async function syncTargets(
  context: Context,
  options: GlobalOptions & SourceOptions,
  { settings, bounds = {} }: Pick<Wanted, 'settings'> & Partial<Pick<Wanted, 'bounds'>>,
  database: OpenDatabase,
  targets: readonly SyncTarget[],
): Promise<SyncResult[]> {
  const screen = openScreen(context);
  let progress: Progress | null = null;
  const log = logOf(context, options, (line) => screen.write(line));
  const engine = await openEngine({
    settings,
    database,
    log: context.err.isTerminal ? withoutDrift(log) : log,
    supervise: false,
    bounds,
    source: options,
    onCommit: () => progress?.nudge(),
  });
  try {
    progress = await showProgress(context, options, screen, {
      db: database.db,
      feeds: watchedFeeds(settings, targets),
      pageSize: settings.explorer.pageSize,
      mostPages: null,
    });
    const results = await whileCurrent(database.pool, context.signal, (signal) =>
      syncOnce(targets, engine, signal),
    );
    await tidyUp(engine, context.signal);
    // What was asked for is done; the views say up to when they are.
    await sumUp(engine, context.signal);
    return results;
  } finally {
    await progress?.end();
    await engine.close();
  }
}

/** Above the lines that are redrawn it would be a wall; the closing summary tells it in one sentence. */
const withoutDrift = (log: Log): Log => ({
  ...log,
  tell: (event, fields) => {
    if (event !== 'feed.drift') log.tell(event, fields);
  },
});

/**
 * What to walk: every configured lane, its bounds replaced by those of the flags.
 *
 * @throws UsageError when a flag makes no sense `now`, or bounds nothing that is chosen
 */
export function targetsOf(settings: Settings, options: SyncOptions, now: Date): SyncTarget[] {
  const bounds = checkedBounds(options, now);
  requireChosen(settings, bounds);
  return configuredLanes(settings.chains, bounds).map(({ lane, scope }) => ({ lane, scope }));
}

/** A flag that bounds an operation which is not copied would be ignored: a slip, so say so. */
function requireChosen({ chains }: Settings, bounds: ScopeBounds): void {
  for (const bound of flagNames.keys()) {
    if (bounds[bound] === undefined) continue;
    const bounded = operationNames.filter((name) => isBoundedBy(name, bound));
    if (chains.some(({ operations }) => bounded.some((name) => operations[name] !== undefined))) {
      continue;
    }
    throw new UsageError(
      `${flagNames.get(bound)} is about ${bounded.join(' and ')}, and none of that is chosen: leave it out, or add --operation ${bounded[0]}.`,
    );
  }
}

/** A command for each operation whose list has bounds, with some, for its help. */
export const examplesOf = (command: 'sync' | 'backfill') =>
  operationNames
    .flatMap((name) => {
      const bounds = kindOf(name).examples[command];
      return bounds === null
        ? []
        : [`  explorer-etl ${command} --chain 10 --operation ${name} ${bounds}\n`];
    })
    .join('');

/** The flags as people write them. */
export const flagNames: ReadonlyMap<keyof ScopeBounds, string> = new Map([
  ['since', '--since'],
  ['maxPages', '--max-pages'],
  ['fromBatch', '--from-batch'],
  ['toBatch', '--to-batch'],
  ['fromBlock', '--from-block'],
  ['toBlock', '--to-block'],
]);

/**
 * The bounds of flags.
 *
 * @throws UsageError where one makes no sense `now`
 */
export function checkedBounds(
  { since, maxPages, fromBatch, toBatch, fromBlock, toBlock }: SyncOptions,
  now: Date,
): ScopeBounds {
  const time = since === undefined ? undefined : sinceOf(since, now);
  refuseReversed('batch', fromBatch, toBatch);
  refuseReversed('block', fromBlock, toBlock);
  return {
    ...(time !== undefined && { since: time }),
    ...(maxPages !== undefined && { maxPages }),
    ...(fromBatch !== undefined && { fromBatch }),
    ...(toBatch !== undefined && { toBatch }),
    ...(fromBlock !== undefined && { fromBlock }),
    ...(toBlock !== undefined && { toBlock }),
  };
}

/**
 * The moment that `--since` means, as an ISO 8601 string; null: all there is.
 *
 * @throws UsageError where it means none, or one that is still to come
 */
export function sinceOf(flag: string, now: Date): string | null {
  if (flag === 'all') return null;
  const time = parseMoment(flag, now);
  if (time === null) throw new UsageError(`--since ${flag}: not ${momentForms}, or all`);
  if (Date.parse(time) > now.getTime()) {
    throw new UsageError(`--since ${flag} is in the future: nothing is that new.`);
  }
  return time;
}

function refuseReversed(unit: 'batch' | 'block', from?: number, to?: number): void {
  if (from === undefined || to === undefined || from <= to) return;
  throw new UsageError(
    `--from-${unit} ${from} is above --to-${unit} ${to}: the range is reversed.`,
  );
}
