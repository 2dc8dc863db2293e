import { openEngine, prepareDatabase, type SourceOptions } from '../app.ts';
import { requireApiKey, type Settings } from '../config/settings.ts';
import { whileCurrent } from '../db/migrate.ts';
import { configuredLanes, withTargets, reconcileTargets } from '../sync/targets.ts';
import { sumUp, tidyUp } from '../sync/serve.ts';
import { syncOnce, type SyncResult, type SyncTarget } from '../sync/once.ts';
import { feedName } from '../lists/feed.ts';
import type { ScopeBounds } from '../lists/list.ts';
import type { Log } from '../log.ts';
import type { OpenDatabase } from '../open-database.ts';
import { readStatus } from '../status/status.ts';
import {
  addBounds,
  boundsOf,
  boundExamples,
  type BoundFlags,
  addFeedOptions,
  addSameData,
  type ChosenFeeds,
  addExamples,
} from './options.ts';
import {
  waitingOf,
  type Context,
  type ExitCode,
  type GlobalOptions,
  type Registry,
} from './context.ts';
import { onDatabase, settingsOf, reportLocation } from './database.ts';
import { showProgress } from './progress.ts';
import { openScreen, type Screen } from './screen.ts';
import { logOf } from './screen.ts';
import { concludeSync, type Concluded } from './sync-result.ts';

interface SyncOptions extends ChosenFeeds, BoundFlags, SourceOptions, GlobalOptions {}

/** `sync`: brings feeds up to date once, with progress. */
export function register({ command, run }: Registry): void {
  addBounds(addSameData(addFeedOptions(command)), ['maxPages', 'since', 'fromBatch', 'toBatch']);
  addExamples(
    command.action(run(sync)),
    ['explorer-etl sync', ...boundExamples('sync')],
    `The same command resumes an interrupted sync.
--since, --from-batch and --to-batch stay the target of the lists that they bound, until another
command or the file names another; --since all and --from-batch 1 take all there is.`,
  );
}

async function sync(context: Context, options: SyncOptions): Promise<ExitCode> {
  const settings = settingsOf(context, options);
  requireApiKey(settings);
  const bounds = boundsOf(settings, options, new Date());
  const targets = (aimed: Settings) => targetsOf(aimed, bounds);
  return syncOnDatabase('sync', context, options, { settings, bounds, targets });
}

/** Every configured lane, with these bounds. */
export const targetsOf = ({ chains }: Settings, bounds: ScopeBounds): SyncTarget[] =>
  configuredLanes(chains, bounds).map(({ lane, scope }) => ({ lane, scope }));

interface Work {
  readonly settings: Settings;
  readonly bounds: ScopeBounds;
  readonly targets: (aimed: Settings) => readonly SyncTarget[];
}

/** Migrates the database, syncs the lanes, and prints the result. */
export async function syncOnDatabase(
  command: Concluded['command'],
  context: Context,
  options: GlobalOptions & SourceOptions & ChosenFeeds,
  { settings, bounds, targets }: Work,
): Promise<ExitCode> {
  const screen = openScreen(context);
  const step = (text: string) => options.quiet || screen.step(text);
  step(settings.databaseUrl === null ? 'Starting Postgres' : 'Connecting to the database');
  try {
    return await onDatabase(settings, context, 'writes', async (database) => {
      const begunAt = performance.now();
      screen.clear();
      reportLocation(context, options, database);
      step('Preparing the database');
      const stderr = (text: string) => screen.write(text);
      await prepareDatabase(database, waitingOf({ ...context, stderr }));
      const chains = await withTargets(database.db, settings.chains, bounds);
      const aimed = { ...settings, chains };
      const wanted = targets(aimed);
      if (settings.configFile === null) await reconcileTargets(database.db, wanted);
      const work = { settings, bounds, screen };
      const results = await syncTargets(context, options, work, database, wanted);
      const isNamed = options.operation !== undefined;
      const concluded = { command, settings: aimed, results, isNamed, begunAt };
      return concludeSync(context, options, database, concluded);
    });
  } finally {
    screen.clear();
  }
}

/** Syncs a prepared database, with progress as the options say. */
export async function syncTargets(
  context: Context,
  options: GlobalOptions & SourceOptions,
  work: Pick<Work, 'settings'> & { readonly bounds?: ScopeBounds; readonly screen?: Screen },
  database: OpenDatabase,
  targets: readonly SyncTarget[],
): Promise<SyncResult[]> {
  const { settings, bounds = {}, screen = openScreen(context) } = work;
  const { pageSize } = settings.explorer;
  const log = logOf(context, options, (line) => screen.write(line));
  const engine = await openEngine({
    settings,
    database,
    log: context.err.isTerminal ? withoutDrift(log) : log,
    supervise: false,
    bounds,
    source: options,
  });
  let endProgress: (() => Promise<void>) | null = null;
  try {
    const names = new Set(targets.map(({ lane }) => feedName(lane)));
    const read = () => readStatus(database.db, { pageSize, standby: null });
    endProgress = await showProgress(options, screen, names, read);
    const results = await whileCurrent(database.pool, context.signal, (signal) =>
      syncOnce(targets, engine, signal),
    );
    await tidyUp(engine, context.signal);
    await sumUp(engine, context.signal);
    return results;
  } finally {
    await endProgress?.();
    await engine.close();
  }
}

/** Omits schema drift, which would flood the screen; the result counts it. */
const withoutDrift = (log: Log): Log => ({
  ...log,
  write: (event, fields) => {
    if (event !== 'feed.drift') log.write(event, fields);
  },
});
