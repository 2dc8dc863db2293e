import { once } from 'node:events';
import { performance } from 'node:perf_hooks';
import { z } from 'zod';
import { directUrlOf, prepareDatabase } from '../app.ts';
import type { Settings } from '../config/settings.ts';
import { stopEmbeddedPostgres } from '../postgres/postgres.ts';
import { feedName } from '../lists/feed.ts';
import { openDatabase, type OpenDatabase } from '../open-database.ts';
import type { StatusDocument } from '../status/schema.ts';
import { readStatus } from '../status/status.ts';
import { addHelp, commandLineOf } from './command-line.ts';
import {
  exitCodes,
  exits,
  waitingOf,
  type Context,
  type Exit,
  type ExitCode,
  type GlobalOptions,
  type Registry,
} from './context.ts';
import {
  demoDocument,
  demoText,
  isComplete,
  openDemoScreen,
  type DemoResult,
  type DemoScreen,
} from './demo-report.ts';
import {
  isKillClean,
  pagesOf,
  runDemo,
  startDemoWorker,
  workForDemo,
  type DemoWorker,
} from './demo-run.ts';
import {
  demoSeed,
  demoSettings,
  demoTargets,
  demoWorld,
  openDemoExplorer,
  setDemoTargets,
  stageFeed,
  stagePages,
} from './demo-world.ts';
import { demoDatabase, embeddedDirectory } from './existing.ts';
import { servePageNearby, urlOf } from './http.ts';
import { printAnswer, writeJson } from './print.ts';

/** `demo --stop --json`. */
export const demoStopDocument = z.strictObject({
  schema: z.literal('explorer-etl/demo-stop/1'),
  /** Whether a Postgres was running. */
  stopped: z.boolean(),
});

/**
 * Its port is another one each time, its data is not: real data in the same database is refused. The day on
 * which its world begins follows, so that a later run shows the same world, only longer.
 */
const demoOrigin = `simulated explorer of demo, seed ${demoSeed}, from `;

interface DemoOptions {
  readonly stop: boolean;
  readonly exit: boolean;
  readonly asWorker: boolean;
}

/** `demo`: the whole program against a simulated explorer, on an embedded Postgres, its worker killed halfway. */
export function registerDemo({ command, run }: Registry): void {
  command
    .option('--stop', 'only stop the Postgres that an earlier demo left running', false)
    .option('--exit', 'end when all is read; in a terminal the page stays until Ctrl-C', false)
    .addOption(command.createOption('--as-worker').default(false).hideHelp());
  addHelp(
    command,
    (line) => `
Examples:
  ${line('explorer-etl demo')}
  ${line('explorer-etl demo --stop')}`,
  ).action(
    run<DemoOptions>((context, options) => {
      if (options.asWorker) return workForDemo(context);
      return options.stop ? stopDemo(context, options) : demo(context, options);
    }),
  );
}

async function stopDemo(context: Context, options: GlobalOptions): Promise<ExitCode> {
  const stopped = await stopEmbeddedPostgres(embeddedDirectory(context));
  return printAnswer(context, options, {
    schema: demoStopDocument,
    fields: { stopped },
    text: () => (stopped ? 'Stopped.\n' : 'Nothing was running.\n'),
  });
}

async function demo(outer: Context, options: DemoOptions & GlobalOptions): Promise<ExitCode> {
  const settings = demoSettings(outer, options);
  // Commands are about the embedded Postgres, which others find by `--demo`.
  const context = settings.databaseUrl === null ? { ...outer, isDemo: true as const } : outer;
  const screen = openDemoScreen(context, options, settings);
  // It loads the program while Postgres starts.
  const worker = startDemoWorker(context);
  const page = await servePageNearby(context, { settings, works: false, metricsAddress: null });
  screen.update({ url: urlOf(page) });
  try {
    const database = await openDatabase(settings, { cwd: context.cwd, name: demoDatabase });
    try {
      page.use({ url: database.url, directUrl: directUrlOf(settings, database) });
      await prepareDatabase(database, waitingOf(context));
      const code = await demoOn(database, { context, options, settings, screen, worker });
      const isKept = context.out.isTerminal && !options.json && !options.exit;
      if (isKept && !context.signal.aborted) {
        context.stdout(`Page   ${urlOf(page)}   Ctrl-C ends it\n`);
        await once(context.signal, 'abort');
      }
      return code;
    } finally {
      await database.close();
    }
  } finally {
    screen.end();
    await page.close();
    await worker.kill();
  }
}

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
  const names = new Set(targets.map(({ lane }) => feedName(lane)));
  const read = async () => statusOf(database, settings, names);
  const rowsBefore = rowsOf(await read());
  // Half of what is left of the list is read, and at most three quarters can be, when the worker is killed.
  const left = Math.max(0, stagePages(world) - (await pagesOf(database, stageFeed)));
  const explorer = await openDemoExplorer(world, Math.floor((3 * left) / 4));
  const stopWatching = screen.watch(read);
  const started = performance.now();
  try {
    const kill = await runDemo(
      {
        settings: { ...settings, explorer: { ...settings.explorer, baseUrl: explorer.url } },
        origin,
        killAfter: Math.floor(left / 2),
        database,
        targets,
        explorer,
        worker,
        onKill: (pages) => screen.killed(worker.pid, pages),
      },
      context.signal,
    );
    const seconds = (performance.now() - started) / 1000;
    await stopWatching();
    screen.end();
    if (kill === null && !options.json) {
      context.stdout('Interrupted. Progress is saved: the same command resumes.\n');
      return exitCodes.interrupted;
    }
    const status = await read();
    return conclude(context, options, {
      database: settings.databaseUrl === null ? 'embedded' : 'named',
      feeds: status.feeds.map((one) => {
        const { feed, chain_id, chain_name, operation, label, rows, pages } = one;
        const is_verified = isComplete(one);
        return { feed, chain_id, chain_name, operation, label, rows, pages, is_verified };
      }),
      kill,
      totals: { rows: rowsOf(status) - rowsBefore, requests: explorer.requests, seconds },
      credits: { spent: status.credits.spent, limit: status.credits.limit },
    });
  } finally {
    await stopWatching();
    await explorer.close();
  }
}

/** The status of the demo's feeds. */
async function statusOf(
  { db }: OpenDatabase,
  { explorer: { pageSize } }: Settings,
  names: ReadonlySet<string>,
): Promise<StatusDocument> {
  const status = await readStatus(db, { pageSize, standby: null });
  return { ...status, feeds: status.feeds.filter(({ feed }) => names.has(feed)) };
}

const rowsOf = ({ feeds }: StatusDocument) => feeds.reduce((sum, { rows }) => sum + rows, 0);

/** When the world began that an earlier demo copied into this database; null if there was none. */
async function storedStart({ pool }: OpenDatabase): Promise<number | null> {
  const { rows } = await pool.query<{ day: string }>(
    'select substr(origin, length($1) + 1) as day from etl.feeds where starts_with(origin, $1) limit 1',
    [demoOrigin],
  );
  const startMs = Date.parse(rows[0]?.day ?? '');
  return Number.isNaN(startMs) ? null : startMs;
}

/** Reports how it went. What the ledger does not confirm has failed. */
function conclude(context: Context, { json }: GlobalOptions, result: DemoResult): ExitCode {
  const exit = exitOf(result);
  if (json) return writeJson(context, demoDocument, result, exit);
  context.stdout(demoText(result, context.out, commandLineOf(context)));
  return exit.code;
}

function exitOf({ kill, feeds }: DemoResult): Exit {
  if (kill === null) return exits.interrupted;
  if (!isKillClean(kill)) return exits.failed;
  return feeds.every(({ is_verified: isVerified }) => isVerified) ? exits.done : exits.open;
}
