import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { prepareDatabase } from '../app.ts';
import type { Settings } from '../config/settings.ts';
import { ownConnections, withName } from '../db/pool.ts';
import { feedName } from '../lists/feed.ts';
import { programFile } from '../package-file.ts';
import { sum } from '../status/estimate.ts';
import { count, type FeedStatus, statusDocument, type StatusDocument } from '../status/schema.ts';
import { configuredFeeds, configuredLanes, withTargets } from '../sync/feeds.ts';
import { type Look, nextLines, paint, prose } from '../terminal/layout.ts';
import { counted, duration, whole } from '../terminal/numbers.ts';
import {
  type CommandLine,
  commandLineOf,
  type Context,
  type Exit,
  exits,
  type Registry,
  UsageError,
} from './context.ts';
import { demoDatabase, openFor, type OpenDatabase } from './database.ts';
import {
  type DemoExplorer,
  demoOrigin,
  demoSettings,
  isKillClean,
  type Kill,
  killSchema,
  openDemoExplorer,
  openDemoWorld,
  openWalks,
  readResumption,
  readStagePages,
  stageFeed,
} from './demo-world.ts';
import { servePage, urlOf } from './open.ts';
import { openScreen, type Screen, watchStatus } from './screen.ts';
import { feedTable } from './status.ts';
import { readStatus } from '../status/status.ts';
import { progressLines, syncTargets } from './sync.ts';

/** `demo --json`. */
export const demoDocument = z.strictObject({
  schema: z.literal('explorer-etl/demo/3'),
  /** `named`: the database of DATABASE_URL. */
  database: z.enum(['embedded', 'named']),
  /** As in the status, with the rows of earlier demos. */
  ...statusDocument.pick({ as_of: true, feeds: true, credits: true }).shape,
  /** Null: the demo was interrupted. */
  kill: killSchema.nullable(),
  /** Of this demo only, without the start of Postgres. */
  totals: z.strictObject({ rows: count, requests: count, seconds: z.number() }),
});
export type DemoResult = Omit<z.infer<typeof demoDocument>, 'schema'>;

interface DemoOptions {
  readonly exit: boolean;
  readonly asWorker: boolean;
}

/** `demo`: runs the program against a simulated explorer, and kills its worker halfway. */
export function register({ command, run, explain }: Registry): void {
  command
    .option('--exit', 'end when all is read; in a terminal the page stays until Ctrl-C', false)
    .addOption(command.createOption('--as-worker').default(false).hideHelp());
  command.action(
    run<DemoOptions>((context, options) =>
      options.asWorker ? workForDemo(context) : demo(context, options),
    ),
  );
  const examples = ['explorer-etl demo', 'explorer-etl demo --exit'];
  explain(examples, 'Its Postgres runs until explorer-etl db stop.');
}

async function demo(outer: Context, options: DemoOptions): Promise<Exit> {
  const settings = demoSettings(outer);
  // Other commands find the embedded Postgres by `--demo`.
  const isEmbedded = settings.databaseUrl === null;
  const context = { ...outer, commandLine: commandLineOf({ ...outer, demo: isEmbedded }) };
  await using page = await servePage(context, settings, { address: null, works: false });
  using screen = await openScreen(context, [`The page: ${urlOf(page)}`]);
  screen.step('Starting Postgres');
  await using database = await openFor(settings, { ...context, name: demoDatabase }, 'writes');
  await prepareDatabase(database, context.waiting);
  const result = await runDemo({ context, settings, database, screen, page });
  page.use(database.url);
  const text = demoText(result, context.out, context.commandLine);
  const exit = context.print(demoDocument, result, text, exitOf(result));
  const isKept = context.out.isTerminal && !context.json && !options.exit;
  if (isKept && !context.signal.aborted) {
    context.stdout(`Page   ${urlOf(page)}   Ctrl-C ends it\n`);
    await context.untilStopped();
  }
  return exit;
}

interface Demo {
  readonly context: Context;
  readonly settings: Settings;
  readonly database: OpenDatabase;
  readonly screen: Screen;
  readonly page: Awaited<ReturnType<typeof servePage>>;
}

async function runDemo(parts: Demo): Promise<DemoResult> {
  const { database, screen, settings } = parts;
  const { db } = database;
  const world = await openDemoWorld(db, settings, Date.now());
  const names = new Set(configuredFeeds(settings.chains).map(feedName));
  const read = () => readStatus(db, settings.explorer.pageSize, names);
  const rowsBefore = rowsOf(await read());
  // The kill comes after half of the remaining list; at most three quarters are available by then.
  const left = Math.max(0, world.stagePages - (await readStagePages(db)));
  await using explorer = await openDemoExplorer(db, world.chains, Math.floor((3 * left) / 4));
  await using end = new AsyncDisposableStack();
  end.defer(() => screen.clear());
  end.defer(watchStatus(screen, read, progressLines));
  const started = performance.now();
  const kill = await killAndResume(parts, explorer, Math.floor(left / 2));
  const seconds = (performance.now() - started) / 1000;
  const { as_of, feeds, credits } = await read();
  const rows = rowsOf({ feeds }) - rowsBefore;
  return {
    database: settings.databaseUrl === null ? 'embedded' : 'named',
    as_of,
    feeds,
    credits,
    kill,
    totals: { rows, requests: explorer.requests(), seconds },
  };
}

/** Only a hang takes longer, in ms. */
const mostToMiddleMs = 5 * 60_000;
const pollMs = 20;

/** Kills a worker after so many pages, and resumes in this process. @returns null if a signal came */
async function killAndResume(
  { context, settings, database, screen, page }: Demo,
  explorer: DemoExplorer,
  killAfter: number,
): Promise<Kill | null> {
  const { signal } = context;
  const { db, pool } = database;
  const before = await readStagePages(db);
  const worker = startWorker(context, database.url, explorer.url);
  try {
    const isMiddle = async () =>
      (await explorer.isDayOver()) &&
      explorer.stageRequests() > killAfter &&
      (await readStagePages(db)) - before >= killAfter;
    const over = performance.now() + mostToMiddleMs;
    const goesOn = () => !signal.aborted && performance.now() < over && worker.isRunning();
    while (goesOn() && !(await isMiddle())) {
      // Before the worker's first request, the page would say that none works.
      if (explorer.requests() > 0) page.use(database.url);
      await delay(pollMs, undefined, { signal }).catch(() => undefined);
    }
  } finally {
    await worker.kill();
  }
  // A server may learn late that a client is dead.
  await pool.query(
    `select pg_terminate_backend(pid, 60000) from pg_stat_activity
     where application_name = $1 and datname = current_database()`,
    [workerName(worker.pid)],
  );
  if (signal.aborted) return null;
  const walks = await openWalks(db);
  const what = `worker ${worker.pid} at page ${whole(walks[0]?.pages ?? 0)} of ${stageFeed}`;
  if (!context.quiet) screen.write(`SIGKILL to ${what}; another one resumes …\n`);
  explorer.release();
  await copyWorld(context, settings, database, explorer.url);
  if (signal.aborted) return null;
  // Its own failure would have repeated itself above.
  if (!(await worker.kill())) throw new Error('the worker ended before it could be killed');
  return { pid: worker.pid, ...(await readResumption(db, walks)) };
}

/** A database's name for a worker's sessions. */
const workerName = (pid: number) => `explorer-etl demo worker ${pid}`;

/** Starts a worker process. It ends with this process. */
function startWorker({ env, cwd }: Context, databaseUrl: string, explorerUrl: string) {
  // In its environment, because other users can read arguments.
  const own = { DATABASE_URL: databaseUrl, EXPLORER_BASE_URL: explorerUrl };
  const child = fork(programFile(), ['demo', '--as-worker'], {
    cwd,
    env: { ...env, DATABASE_URL_FILE: '', ...own },
    // The reason is in bin/explorer-etl.js.
    execArgv: ['--max-semi-space-size=8'],
    // The ledger has its pages, and the next worker repeats its failures.
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  // Null: the process did not start.
  const ended = once(child, 'exit').then(
    ([, signal]: unknown[]) => signal,
    () => null,
  );
  return {
    pid: child.pid ?? 0,
    isRunning: () =>
      child.pid !== undefined && child.exitCode === null && child.signalCode === null,
    /** Sends SIGKILL and waits for the exit. @returns whether SIGKILL ended it */
    async kill(): Promise<boolean> {
      child.kill('SIGKILL');
      return (await ended) === 'SIGKILL';
    },
  };
}

/** The worker's side: copies until all is done, or it is killed, or the demo has ended. */
async function workForDemo(context: Context): Promise<Exit> {
  if (process.channel === undefined) throw new UsageError('--as-worker is for the demo itself.');
  // eslint-disable-next-line unicorn/no-process-exit -- there is nothing left to work for, as after a kill
  process.once('disconnect', () => process.exit(exits.interrupted.code));
  process.channel.unref();
  const { EXPLORER_BASE_URL = '' } = context.env;
  const settings = demoSettings(context);
  const databaseUrl = withName(settings.databaseUrl ?? '', workerName(process.pid));
  await using database = await openFor({ databaseUrl }, context, 'writes');
  await copyWorld(context, settings, database, EXPLORER_BASE_URL);
  return exits.done;
}

/** Reads what is left, as `sync` does. */
async function copyWorld(
  context: Context,
  settings: Settings,
  database: OpenDatabase,
  baseUrl: string,
): Promise<void> {
  const origin = (await demoOrigin(database.db)) ?? '';
  const silent = { ...context, logLevel: 'silent', quiet: true } as const;
  const targets = configuredLanes(await withTargets(database.db, settings));
  const explorer = { ...settings.explorer, baseUrl };
  // The page is open beside this command.
  const connections = settings.connections - ownConnections;
  const work = { settings: { ...settings, connections, explorer } };
  await syncTargets(silent, { origin }, work, database, targets);
}

const rowsOf = ({ feeds }: Pick<StatusDocument, 'feeds'>) => sum(feeds.map(({ rows }) => rows));

/** Verified, and every lane has finished: an active walk may be verified as far as it has read. */
const isComplete = ({ verified, lanes }: FeedStatus): boolean =>
  verified.share === 1 && lanes.every(({ run_state: state }) => state === 'finished');

function exitOf({ kill, feeds }: DemoResult): Exit {
  if (kill === null) return exits.interrupted;
  if (!isKillClean(kill)) return exits.failed;
  return feeds.every(isComplete) ? exits.done : exits.open;
}

/** The demo's result, on one screen. */
export function demoText(result: DemoResult, look: Look, commandLine: CommandLine): string {
  const { database, feeds, kill, totals, credits } = result;
  if (kill === null) return 'Interrupted. Progress is saved: the same command resumes.\n';
  const budget = credits.limit === null ? '' : ` of a free day's ${whole(credits.limit)}`;
  const sums = [
    `${totals.rows === 0 ? 'no new rows' : counted(totals.rows, 'row')} in ${duration(totals.seconds)}`,
    counted(totals.requests, 'request'),
    `${whole(credits.spent)}${budget} credits`,
  ].join(' · ');
  const steps = [
    ...(feeds.every(isComplete) ? [] : [['explorer-etl verify', 'what is missing'] as const]),
    ['explorer-etl open', 'the page'],
    ['explorer-etl query top-senders', 'a query; query --list has all'],
    ['explorer-etl init', 'your chains, with your key'],
    ...(database === 'embedded' ? [['explorer-etl db stop', 'stops Postgres'] as const] : []),
  ] as const;
  const text = [
    ...feedTable(result, look),
    ...prose(look, sums),
    ...prose(look, killText(kill, look)),
    '',
    ...nextLines(
      look,
      steps.map(([bare, what]) => [commandLine(bare), what]),
    ),
  ];
  return `${text.join('\n')}\n`;
}

function killText(kill: Kill, look: Look): string {
  const { killed_at_page: killed, resumed_at_page: resumed } = kill;
  const isClean = isKillClean(kill);
  const sign = isClean ? paint(look, 'good', '✓') : paint(look, 'bad', '✗');
  const from = killed === null ? 'with nothing under way' : `at page ${whole(killed)}`;
  const to = resumed === null ? 'never resumed' : `resumed at ${whole(resumed)}`;
  const pages = isClean
    ? 'no page lost, none stored twice'
    : `${counted(kill.pages_lost, 'page')} lost, ${whole(kill.pages_stored_twice)} stored twice`;
  return `${sign} Killed ${from}, ${to}: ${pages}`;
}
