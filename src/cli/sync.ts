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
import { counted } from '../terminal/numbers.ts';
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
  type Exit,
  type GlobalOptions,
  type Registry,
} from './context.ts';
import { onDatabase, settingsOf, reportLocation } from './database.ts';
import { logOf, openScreen, type Screen, watchStatus } from './screen.ts';
import { feedTable, leftText, shareText } from './status.ts';
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

async function sync(context: Context, options: SyncOptions): Promise<Exit> {
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
): Promise<Exit> {
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

/**
 * Shows the progress of feeds: the table of `status`, redrawn on a terminal; elsewhere a line of a feed when its
 * state changes, and each half minute. @returns a function that ends it
 */
export async function showProgress(
  { quiet }: Pick<GlobalOptions, 'quiet'>,
  screen: Screen,
  names: ReadonlySet<string>,
  read: () => Promise<StatusDocument>,
): Promise<() => Promise<void>> {
  if (quiet || names.size === 0) return async () => undefined;
  const readThese = async () => {
    const document = await read();
    return { ...document, feeds: document.feeds.filter(({ feed }) => names.has(feed)) };
  };
  const plain = plainProgress(await readThese(), (text) => screen.write(text));
  const end = watchStatus(readThese, (now) => {
    if (screen.look.isTerminal) screen.lines(progressLines(now, screen.look));
    else plain(now, performance.now());
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

/** Half a minute between lines of a feed, in ms: a long run should not fill a log. */
const plainMs = 30_000;

/** Progress without redrawing. @returns a function that takes the status, and the time in ms */
export function plainProgress(before: StatusDocument, write: (text: string) => void) {
  const written = new Map(before.feeds.map(({ feed, state }) => [feed, { state, at: 0 }]));
  return ({ feeds }: StatusDocument, at: number): void => {
    for (const status of feeds) {
      const { feed, state, rows } = status;
      const last = written.get(feed);
      const isDue = state === 'running' && at - (last?.at ?? 0) >= plainMs;
      if (last?.state === state && !isDue) continue;
      written.set(feed, { state, at });
      const left = leftText(status);
      const parts = [state, shareText(status), counted(rows, 'row'), left && `${left} left`];
      write(`${feed}: ${parts.filter((part) => part !== '').join(', ')}\n`);
    }
  };
}
