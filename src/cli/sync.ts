import { openDatabase, openEngine, prepareDatabase, type OpenDatabase } from '../app.ts';
import { requireApiKey, type Settings } from '../config/settings.ts';
import { parseTime } from '../config/time.ts';
import { feedName } from '../feeds/feed.ts';
import { configuredLanes, type ScopeBounds } from '../feeds/lanes.ts';
import { syncOnce, type SyncResult, type SyncTarget } from '../jobs/sync.ts';
import { createLog } from '../log.ts';
import { addFeedOptions, wholeNumber, type ChosenFeeds } from './chosen-feeds.ts';
import {
  exitCodes,
  settingsOf,
  UsageError,
  writeJson,
  type Context,
  type ExitCode,
  type GlobalOptions,
  type Registry,
} from './context.ts';
import { openScreen, showProgress } from './progress.ts';
import { tellWhere } from './where.ts';

interface SyncOptions extends ChosenFeeds, ScopeBounds {}

/** `sync`: brings feeds up to date once, with progress, and exits. */
export function registerSync({ program, run }: Registry): void {
  addFeedOptions(program.command('sync'))
    .description('bring feeds up to date once, and exit')
    .option('--max-pages <n>', 'read at most this many pages of each list', wholeNumber(1))
    .option('--since <time>', 'read user operations back to this date or time')
    .option('--from-batch <n>', 'first Optimism batch to read', wholeNumber(0))
    .option('--to-batch <n>', 'last Optimism batch to read', wholeNumber(0))
    .addHelpText(
      'after',
      `
An interrupted sync resumes where it was when the same command is given again.

Examples:
  explorer-etl sync
  explorer-etl sync --chain 10 --operation user-operations --since 2026-01-01
  explorer-etl sync --chain 10 --operation optimism-batch-blocks --from-batch 1 --to-batch 20
`,
    )
    .action(run<SyncOptions>(sync));
}

async function sync(context: Context, options: SyncOptions & GlobalOptions): Promise<ExitCode> {
  const settings = settingsOf(context, options);
  requireApiKey(settings);
  const targets = targetsOf(settings, options);
  const database = await openDatabase(settings, context);
  try {
    tellWhere(context, options, database);
    await prepareDatabase(database);
    const results = await syncTargets(context, options, settings, database, targets);
    return concludeSync(context, options, results);
  } finally {
    await database.close();
  }
}

/** Runs the sync itself on a prepared database, with progress as the options say. */
export async function syncTargets(
  context: Context,
  options: GlobalOptions,
  settings: Settings,
  database: OpenDatabase,
  targets: readonly SyncTarget[],
): Promise<SyncResult[]> {
  const screen = openScreen(context);
  const engine = await openEngine({
    settings,
    database,
    log: createLog(options.logLevel, (line) => screen.write(line)),
    supervise: false,
  });
  const feeds = targets.map(({ lane }) => feedName(lane));
  const progress = showProgress(context, options, screen, database.db, feeds);
  try {
    return await syncOnce(targets, engine, context.signal);
  } finally {
    await progress.end();
    await engine.close();
  }
}

/** What to walk: every configured lane, its bounds replaced by those of the flags. */
export function targetsOf(settings: Settings, options: SyncOptions): SyncTarget[] {
  const bounds = checkedBounds(options);
  return configuredLanes(settings.chains, bounds).map(({ lane, scope }) => ({ lane, scope }));
}

function checkedBounds({ since, maxPages, fromBatch, toBatch }: SyncOptions): ScopeBounds {
  const time = since === undefined ? undefined : parseTime(since);
  if (time === null) {
    throw new UsageError(`--since ${since}: not a date or time, such as 2024-01-01`);
  }
  if (fromBatch !== undefined && toBatch !== undefined && fromBatch > toBatch) {
    throw new UsageError(
      `--from-batch ${fromBatch} is above --to-batch ${toBatch}: the range is reversed.`,
    );
  }
  return {
    ...(time !== undefined && { since: time }),
    ...(maxPages !== undefined && { maxPages }),
    ...(fromBatch !== undefined && { fromBatch }),
    ...(toBatch !== undefined && { toBatch }),
  };
}

/** Prints how each lane ended, and turns it into the exit code. */
export function concludeSync(
  context: Context,
  options: GlobalOptions,
  results: readonly SyncResult[],
): ExitCode {
  if (options.json) {
    writeJson(
      context,
      results.map(({ feed, lane, state, reason }) => ({ feed, lane: lane.lane, state, reason })),
    );
  } else {
    if (results.length === 0) context.stdout('Nothing to do: what was asked for is there.\n');
    for (const { feed, state, reason } of byFeed(results)) {
      const outcome = isUnsupported(reason) ? [] : [outcomes[state]];
      context.stdout(`${[feed, ...outcome, ...(reason === null ? [] : [reason])].join(': ')}\n`);
    }
    if (context.signal.aborted) {
      context.stdout('Interrupted; what was read is kept. The same command goes on from there.\n');
    }
  }
  if (context.signal.aborted) return exitCodes.interrupted;
  const failed = results.filter(
    ({ state, reason }) => state !== 'finished' && !isUnsupported(reason),
  );
  return failed.length === 0 ? exitCodes.done : exitCodes.failed;
}

/** What people call a tick's state. A tick that a trouble interrupted has failed for this run. */
const outcomes: Readonly<Record<SyncResult['state'], string>> = {
  open: 'interrupted',
  finished: 'finished',
  failed: 'failed',
  interrupted: 'failed',
  superseded: 'replaced by another run with other bounds',
};

/** One result for each feed: that of the lane that did not finish, if there is one. */
function byFeed(results: readonly SyncResult[]): SyncResult[] {
  const told = new Map<string, SyncResult>();
  for (const result of results) {
    if ((told.get(result.feed)?.state ?? 'finished') === 'finished') told.set(result.feed, result);
  }
  return [...told.values()];
}

/** That a chain does not serve an operation is an answer, not a failure. */
const isUnsupported = (reason: string | null) => reason?.startsWith('unsupported') ?? false;
