import { performance } from 'node:perf_hooks';
import { directUrlOf, prepareDatabase } from '../app.ts';
import type { Settings } from '../config/settings.ts';
import type { DemoDocument } from '../documents/demo.ts';
import { stopEmbeddedPostgres } from '../postgres/postgres.ts';
import { feedName } from '../lists/feed.ts';
import { openDatabase, type OpenDatabase } from '../open-database.ts';
import { laneCounts } from '../report/progress.ts';
import {
  exitCodes,
  waitingOf,
  writeDocument,
  type Context,
  type ExitCode,
  type GlobalOptions,
  type Registry,
} from './context.ts';
import { failedOperations, feedFacts, isKillClean, killFacts, totalFacts } from './demo-facts.ts';
import { runDemo } from './demo-run.ts';
import { openDemoScreen, type DemoScreen } from './demo-screen.ts';
import { demoSettings, demoTargets, setDemoTargets } from './demo-settings.ts';
import { demoText } from './demo-text.ts';
import { startDemoWorker, workForDemo, type DemoWorker } from './demo-worker.ts';
import {
  demoSeed,
  demoWorld,
  openDemoExplorer,
  stageFeed,
  stagePages,
  type DemoWorld,
} from './demo-world.ts';
import { demoDatabase, embeddedDirectory } from './existing.ts';
import { servePageNearby, urlOf } from './http.ts';
import { print } from './print.ts';
import { watchedFeeds } from './progress.ts';

/**
 * Its port is another each time, its data never is: real data in the same database is refused. The day
 * on which its world begins follows, so that a later run shows the same world, only longer.
 */
const demoOrigin = `simulated explorer of demo, seed ${demoSeed}, from `;

interface DemoOptions {
  readonly stop: boolean;
  readonly asWorker: boolean;
}

/** `demo`: the whole program against a simulated explorer, on an embedded Postgres, its worker killed midway. */
export function registerDemo({ command, run }: Registry): void {
  command
    .option('--stop', 'only stop the Postgres that an earlier demo left running', false)
    .addOption(command.createOption('--as-worker').default(false).hideHelp())
    .addHelpText('after', '\nExamples:\n  explorer-etl demo\n  explorer-etl demo --stop\n')
    .action(
      run<DemoOptions>((context, options) => {
        if (options.asWorker) return workForDemo(context);
        return options.stop ? stopDemo(context, options) : demo(context, options);
      }),
    );
}

async function stopDemo(context: Context, { json }: GlobalOptions): Promise<ExitCode> {
  const stopped = await stopEmbeddedPostgres(embeddedDirectory(context));
  if (json) {
    const exit = { code: exitCodes.done, reason: 'done' } as const;
    writeDocument(context, { schema: 'explorer-etl/demo-stop/1', exit, stopped });
  } else print(context, stopped ? 'Stopped.\n' : 'Nothing was running.\n');
  return exitCodes.done;
}

async function demo(context: Context, options: GlobalOptions): Promise<ExitCode> {
  const now = demoWorld(null, Date.now());
  const settings = demoSettings(context, options, now);
  const screen = openDemoScreen(context, options, headOf(now, settings));
  // It loads the program while Postgres starts.
  const worker = startDemoWorker(context);
  const page = await servePageNearby(placed(context, settings), {
    settings,
    works: false,
    metricsAddress: null,
  });
  screen.page(urlOf(page));
  try {
    const database = await openDatabase(settings, { cwd: context.cwd, name: demoDatabase });
    try {
      page.use({ url: database.url, directUrl: directUrlOf(settings, database) });
      await prepareDatabase(database, waitingOf(context));
      return await demoOn(database, { context, options, settings, screen, worker });
    } finally {
      await database.close();
    }
  } finally {
    await screen.end();
    await page.close();
    await worker.kill();
  }
}

/** Commands on the page are about the embedded Postgres, which others find by `--demo`. */
const placed = (context: Context, { databaseUrl }: Settings): Context =>
  databaseUrl === null ? { ...context, isDemo: true } : context;

interface Called {
  readonly context: Context;
  readonly options: GlobalOptions;
  readonly settings: Settings;
  readonly screen: DemoScreen;
  readonly worker: DemoWorker;
}

async function demoOn(database: OpenDatabase, called: Called): Promise<ExitCode> {
  const { context, options, settings, screen, worker } = called;
  const world = demoWorld(await storedStart(database), Date.now());
  const targets = demoTargets(settings, world);
  const origin = demoOrigin + new Date(world.startMs).toISOString().slice(0, 10);
  await setDemoTargets(database.db, settings, world, origin);
  const feeds = [...new Set(targets.map(({ lane }) => feedName(lane)))];
  const before = await readCounts(database, feeds);
  // Of what is left of the list half is read, and no more than three quarters can be, when the worker is killed.
  const left = Math.max(0, stagePages(world) - (before.pages.get(stageFeed) ?? 0));
  const explorer = await openDemoExplorer(world, Math.floor((3 * left) / 4));
  await screen.watch(database, watchedFeeds(settings, targets), settings.explorer.pageSize);
  const started = performance.now();
  try {
    const ended = await runDemo(
      {
        settings: { ...settings, explorer: { ...settings.explorer, baseUrl: explorer.url } },
        origin,
        killAfter: Math.floor(left / 2),
        feed: stageFeed,
        database,
        targets,
        explorer,
        worker,
        screen,
      },
      context.signal,
    );
    const seconds = (performance.now() - started) / 1000;
    if (ended === null && !options.json) {
      await screen.end();
      print(context, 'Interrupted; what was read is kept. The same command goes on from there.\n');
      return exitCodes.interrupted;
    }
    const rows = (await readCounts(database, feeds)).rows - before.rows;
    const facts = {
      ...headOf(world, settings),
      feeds: await feedFacts(database, feeds),
      kill: ended && killFacts(ended, stageFeed, explorer.again),
      totals: totalFacts(rows, explorer.requests, seconds),
      failed_operations: await failedOperations(database),
    };
    await screen.end();
    return conclude(context, options, facts);
  } finally {
    await explorer.close();
  }
}

/** When the world began that an earlier demo copied into this database; null if there was none. */
async function storedStart({ pool }: OpenDatabase): Promise<number | null> {
  const { rows } = await pool.query<{ day: string }>(
    'select substr(origin, length($1) + 1) as day from etl.feeds where starts_with(origin, $1) limit 1',
    [demoOrigin],
  );
  const startMs = Date.parse(rows[0]?.day ?? '');
  return Number.isNaN(startMs) ? null : startMs;
}

async function readCounts({ db }: OpenDatabase, feeds: readonly string[]) {
  const counts = await laneCounts(db, feeds);
  const pages = new Map<string, number>();
  for (const lane of counts) pages.set(lane.feed, (pages.get(lane.feed) ?? 0) + lane.pages);
  return { pages, rows: counts.reduce((sum, { rows }) => sum + rows, 0) };
}

const headOf = (
  { chains }: DemoWorld,
  { databaseUrl }: Pick<Settings, 'databaseUrl'>,
): Pick<DemoDocument, 'chains' | 'database'> => ({
  database: databaseUrl === null ? 'embedded' : 'named',
  chains: chains.map(({ id, name }) => ({ chain_id: id, name })),
});

/** Tells how it went, and makes the exit code of that: what the ledger does not bear out has failed. */
function conclude(
  context: Context,
  { json }: GlobalOptions,
  facts: Omit<DemoDocument, 'schema' | 'exit'>,
): ExitCode {
  const exit = exitOf(facts);
  const document: DemoDocument = { schema: 'explorer-etl/demo/1', exit, ...facts };
  if (json) {
    writeDocument(context, document);
    return exit.code;
  }
  context.stdout(demoText(document, context.out, context.program));
  for (const { feed, open } of facts.feeds) {
    for (const finding of open) context.stderr(`${feed}: ${finding}\n`);
  }
  return exit.code;
}

function exitOf({ kill, feeds }: Pick<DemoDocument, 'kill' | 'feeds'>) {
  if (kill === null) return { code: exitCodes.interrupted, reason: 'interrupted' } as const;
  if (!isKillClean(kill)) return { code: exitCodes.failed, reason: 'failed' } as const;
  const isOpen = feeds.some(({ state }) => state === 'open');
  if (isOpen) return { code: exitCodes.failed, reason: 'open' } as const;
  return { code: exitCodes.done, reason: 'done' } as const;
}
