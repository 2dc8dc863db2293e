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
import { printable } from '../printable.ts';
import type { StatusDocument } from '../status/schema.ts';
import { readStatus } from '../status/status.ts';
import { fit } from '../terminal/layout.ts';
import type { Look } from '../terminal/look.ts';
import {
  addBounds,
  boundsOf,
  boundExamples,
  addFeedOptions,
  addSameData,
  type ChosenFeeds,
  addExamples,
} from './options.ts';
import { waitingOf, type Context, type Exit, type Registry } from './context.ts';
import { onDatabase, settingsOf, reportLocation } from './database.ts';
import { logOf, openScreen, type Screen, watchStatus } from './screen.ts';
import { feedTable } from './status.ts';
import { concludeSync, type Concluded } from './sync-result.ts';

interface SyncOptions extends ChosenFeeds, ScopeBounds, SourceOptions {}

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

async function sync(context: Context, options: SyncOptions): Promise<Exit> {
  const settings = settingsOf(context, options);
  requireApiKey(settings);
  const bounds = boundsOf(settings, options);
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
  options: SourceOptions & ChosenFeeds,
  { settings, bounds, targets }: Work,
): Promise<Exit> {
  const screen = openScreen(context);
  const step = (text: string) => context.quiet || screen.step(text);
  step(settings.databaseUrl === null ? 'Starting Postgres' : 'Connecting to the database');
  try {
    return await onDatabase(settings, context, 'writes', async (database) => {
      const begunAt = performance.now();
      screen.clear();
      reportLocation(context, database);
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
      return concludeSync(context, database, concluded);
    });
  } finally {
    screen.clear();
  }
}

/** Syncs a prepared database, with progress as the options say. */
export async function syncTargets(
  context: Context,
  options: SourceOptions,
  work: Pick<Work, 'settings'> & { readonly bounds?: ScopeBounds; readonly screen?: Screen },
  database: OpenDatabase,
  targets: readonly SyncTarget[],
): Promise<SyncResult[]> {
  const { settings, bounds = {}, screen = openScreen(context) } = work;
  const { pageSize } = settings.explorer;
  const log = logOf(context, (line) => screen.write(line));
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
    endProgress = showProgress(context, screen, names, read);
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

/**
 * Shows the progress of feeds on a terminal: the table of `status`, redrawn. Elsewhere the log has it.
 * @returns a function that ends it
 */
export function showProgress(
  { quiet }: Pick<Context, 'quiet'>,
  screen: Screen,
  names: ReadonlySet<string>,
  read: () => Promise<StatusDocument>,
): () => Promise<void> {
  if (quiet || names.size === 0 || !screen.look.isTerminal) return async () => undefined;
  const end = watchStatus(read, (status) => {
    const feeds = status.feeds.filter(({ feed }) => names.has(feed));
    screen.lines(progressLines({ ...status, feeds }, screen.look));
  });
  return async () => {
    await end();
    // The result has a line for each feed.
    screen.clear();
  };
}

/** The table of feeds, and below it what a feed waits for. Pure. */
export const progressLines = (document: StatusDocument, look: Look): string[] => [
  ...feedTable(document, look),
  ...document.feeds
    .filter(({ state }) => state === 'failing' || state === 'blocked')
    .map(({ feed, sentence }) => fit(`  ${feed}: ${printable(sentence ?? '')}`, look.columns)),
];
