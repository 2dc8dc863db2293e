import { once } from 'node:events';
import { performance } from 'node:perf_hooks';
import { z } from 'zod';
import { directUrlOf, prepareDatabase } from '../app.ts';
import type { Settings } from '../config/settings.ts';
import { feedName } from '../lists/feed.ts';
import { openDatabase, type OpenDatabase } from '../open-database.ts';
import type { FeedStatus, StatusDocument } from '../status/schema.ts';
import { readStatus } from '../status/status.ts';
import { type Look, paint } from '../terminal/look.ts';
import { counted, duration, whole } from '../terminal/numbers.ts';
import { columns, fit, prose } from '../terminal/layout.ts';
import { addExamples } from './options.ts';
import {
  commandLineOf,
  type CommandLine,
  exits,
  waitingOf,
  type Context,
  type Exit,
  type ExitCode,
  type GlobalOptions,
  type Registry,
} from './context.ts';
import {
  isKillClean,
  killAndResume,
  killSchema,
  startDemoWorker,
  workForDemo,
  type DemoWorker,
  type Kill,
} from './demo-worker.ts';
import { demoSettings, openDemoExplorer, openDemoWorld, readStagePages } from './demo-world.ts';
import { demoDatabase } from './database.ts';
import { servePage, urlOf } from './http.ts';
import { nextLines, printAnswer } from './print.ts';
import { progressLines } from './progress.ts';
import { openScreen, watchStatus } from './screen.ts';

const count = z.int().min(0);

/** `demo --json`. */
export const demoDocument = z.strictObject({
  schema: z.literal('explorer-etl/demo/2'),
  /** `named`: the database of DATABASE_URL. */
  database: z.enum(['embedded', 'named']),
  /** Stored rows of each feed, including those of earlier demos. */
  feeds: z.array(
    z.strictObject({
      feed: z.string(),
      chain_id: z.int(),
      chain_name: z.string(),
      operation: z.string(),
      label: z.string(),
      rows: count,
      pages: count,
      is_verified: z.boolean(),
    }),
  ),
  /** Null: the demo was interrupted. */
  kill: killSchema.nullable(),
  /** Of this demo only, without the start of Postgres. */
  totals: z.strictObject({ rows: count, requests: count, seconds: z.number() }),
  /** Of today (UTC), by this database; the limit is the daily one of a free plan. */
  credits: z.strictObject({ spent: count, limit: count.nullable() }),
});
export type DemoResult = Omit<z.infer<typeof demoDocument>, 'schema'>;

interface DemoOptions {
  readonly exit: boolean;
  readonly asWorker: boolean;
}

/** `demo`: runs the program against a simulated explorer, and kills its worker halfway. */
export function register({ command, run }: Registry): void {
  command
    .option('--exit', 'end when all is read; in a terminal the page stays until Ctrl-C', false)
    .addOption(command.createOption('--as-worker').default(false).hideHelp());
  addExamples(
    command.action(
      run<DemoOptions>((context, options) =>
        options.asWorker ? workForDemo(context) : demo(context, options),
      ),
    ),
    ['explorer-etl demo', 'explorer-etl demo --exit'],
    'Its Postgres runs until explorer-etl db stop.',
  );
}

async function demo(outer: Context, options: DemoOptions & GlobalOptions): Promise<ExitCode> {
  const settings = demoSettings(outer, options);
  // Other commands find the embedded Postgres by `--demo`.
  const context = settings.databaseUrl === null ? { ...outer, isDemo: true as const } : outer;
  const screen = openDemoScreen(context, options, settings);
  // The worker loads the program while Postgres starts.
  const worker = startDemoWorker(context);
  const page = await servePage(context, null, { settings, works: false, metricsAddress: null });
  screen.show({ page: `The page: ${urlOf(page)}` });
  try {
    const database = await openDatabase(settings, { cwd: context.cwd, name: demoDatabase });
    try {
      page.use({ url: database.url, directUrl: directUrlOf(settings, database) });
      await prepareDatabase(database, waitingOf(context));
      const result = await runDemo({ context, settings, database, screen, worker });
      screen.end();
      const code = printAnswer(context, options, {
        schema: demoDocument,
        fields: result,
        text: () => demoText(result, context.out, commandLineOf(context)),
        exit: exitOf(result),
      });
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

interface Demo {
  readonly context: Context;
  readonly settings: Settings;
  readonly database: OpenDatabase;
  readonly screen: DemoScreen;
  readonly worker: DemoWorker;
}

async function runDemo(parts: Demo): Promise<DemoResult> {
  const { context, database, screen, worker } = parts;
  const { db } = database;
  const { explorer: configured, databaseUrl } = parts.settings;
  const world = await openDemoWorld(db, parts.settings, Date.now());
  const names = new Set(world.targets.map(({ lane }) => feedName(lane)));
  const read = async () => {
    const status = await readStatus(db, { pageSize: configured.pageSize, standby: null });
    return { ...status, feeds: status.feeds.filter(({ feed }) => names.has(feed)) };
  };
  const rowsBefore = rowsOf(await read());
  // The kill comes after half of the remaining list; at most three quarters are available by then.
  const left = Math.max(0, world.stagePages - (await readStagePages(db)));
  const explorer = await openDemoExplorer(world, Math.floor((3 * left) / 4));
  const settings = { ...parts.settings, explorer: { ...configured, baseUrl: explorer.url } };
  const endWatch = screen.watch(read);
  const started = performance.now();
  try {
    const killAfter = Math.floor(left / 2);
    const onKill = (pages: number) => screen.killed(worker.pid, pages);
    const stage = { settings, database, world, explorer, worker, killAfter, onKill };
    const kill = await killAndResume(stage, context.signal);
    const seconds = (performance.now() - started) / 1000;
    const status = await read();
    return {
      database: databaseUrl === null ? 'embedded' : 'named',
      feeds: status.feeds.map((one) => {
        const { feed, chain_id, chain_name, operation, label, rows, pages } = one;
        const is_verified = isComplete(one);
        return { feed, chain_id, chain_name, operation, label, rows, pages, is_verified };
      }),
      kill,
      totals: { rows: rowsOf(status) - rowsBefore, requests: explorer.requests(), seconds },
      credits: { spent: status.credits.spent, limit: status.credits.limit },
    };
  } finally {
    await endWatch();
    await explorer.close();
  }
}

const rowsOf = ({ feeds }: StatusDocument) => feeds.reduce((sum, { rows }) => sum + rows, 0);

/** Verified, and every lane has finished: an active walk may be verified as far as it has read. */
const isComplete = ({ verified, lanes }: FeedStatus): boolean =>
  verified.share === 1 && lanes.every(({ run_state: state }) => state === 'finished');

function exitOf({ kill, feeds }: DemoResult): Exit {
  if (kill === null) return exits.interrupted;
  if (!isKillClean(kill)) return exits.failed;
  return feeds.every(({ is_verified: isVerified }) => isVerified) ? exits.done : exits.open;
}

interface Shown {
  readonly status: StatusDocument | null;
  readonly step: string;
  readonly page: string;
}

type DemoScreen = ReturnType<typeof openDemoScreen>;

/** Draws the demo's progress on a terminal; elsewhere it reports only the kill. */
function openDemoScreen(
  context: Context,
  { quiet, json }: Pick<GlobalOptions, 'quiet' | 'json'>,
  { chains, databaseUrl }: Pick<Settings, 'chains' | 'databaseUrl'>,
) {
  const screen = openScreen(context);
  const isShown = !quiet && !json;
  const isEmbedded = databaseUrl === null;
  let shown: Shown = {
    status: null,
    step: isEmbedded ? 'Starting Postgres …' : 'Connecting …',
    page: '',
  };
  const show = (change: Partial<Shown>) => {
    shown = { ...shown, ...change };
    const { look } = screen;
    const lines = [
      headLine(look, chains.length, isEmbedded),
      ...(shown.status === null ? [] : progressLines(shown.status, look)),
      ...[shown.step, shown.page].filter((text) => text !== '').map((text) => `  ${text}`),
    ];
    if (isShown) screen.lines(lines);
  };
  show({});
  return {
    show,
    /** Shows the progress of feeds. @returns a function that ends it */
    watch(read: () => Promise<StatusDocument>) {
      show({ step: '' });
      if (!isShown || !screen.look.isTerminal) return async () => {};
      return watchStatus(read, (status) => show({ status }));
    },
    killed(pid: number, pages: number) {
      const step = `SIGKILL to worker ${pid} at page ${whole(pages)}; another worker resumes …`;
      if (isShown && !screen.look.isTerminal) screen.write(`${step}\n`);
      show({ step });
    },
    /** Clears the drawing before the result is printed. */
    end: () => screen.clear(),
  };
}

function headLine(look: Look, chains: number, isEmbedded: boolean): string {
  const to = isEmbedded ? 'embedded Postgres' : 'your Postgres';
  const text = ` · ${counted(chains, 'simulated chain')} → ${to} · no key, no network`;
  return fitted(look, paint(look, 'strong', 'explorer-etl demo') + text);
}

const fitted = (look: Look, text: string): string =>
  look.isTerminal ? fit(text, look.columns) : text;

/** The demo's result, on one screen. */
export function demoText(result: DemoResult, look: Look, commandLine: CommandLine): string {
  const { database, feeds, kill, totals, credits } = result;
  if (kill === null) return 'Interrupted. Progress is saved: the same command resumes.\n';
  const chains = new Set(feeds.map(({ chain_id: id }) => id)).size;
  const rows = feeds.map(({ is_verified: isVerified, chain_name, label, rows: stored, pages }) => [
    `${signOf(look, isVerified)} ${chain_name}`,
    label,
    counted(stored, 'row'),
    counted(pages, 'page'),
    isVerified ? 'verified' : 'not verified',
  ]);
  const budget = credits.limit === null ? '' : ` of a free day's ${whole(credits.limit)}`;
  const sums = [
    `${totals.rows === 0 ? 'no new rows' : counted(totals.rows, 'row')} in ${duration(totals.seconds)}`,
    counted(totals.requests, 'request'),
    `${whole(credits.spent)}${budget} credits`,
  ].join(' · ');
  const steps = [
    ['explorer-etl verify', 'what is missing'],
    ['explorer-etl open', 'the page'],
    ['explorer-etl query top-senders', 'a query; query --list has all'],
    ['explorer-etl init', 'your chains, with your key'],
    ['explorer-etl db stop', 'stops Postgres'],
  ] as const;
  const from = feeds.some(({ is_verified: isVerified }) => !isVerified) ? 0 : 1;
  const next = steps.slice(from, database === 'embedded' ? steps.length : -1);
  const text = [
    headLine(look, chains, database === 'embedded'),
    ...columns(look, { rows, aligns: ['left', 'left', 'right', 'right'], flexible: 1 }),
    ...prose(look, sums, 2),
    ...killLines(kill, look),
    '',
    ...nextLines(
      look,
      next.map(([bare, what]) => [commandLine(bare), what]),
    ),
  ];
  return `${text.join('\n')}\n`;
}

const signOf = (look: Look, isGood: boolean): string =>
  isGood ? paint(look, 'good', '✓') : paint(look, 'bad', '✗');

function killLines(kill: Kill, look: Look): string[] {
  const { pid, is_real: isReal, killed_at_page: killed, resumed_at_page: resumed } = kill;
  if (!isReal) return [`${signOf(look, false)} The worker ended before it could be killed`];
  const isClean = isKillClean(kill);
  const from = killed === null ? 'with nothing under way' : `at page ${whole(killed)}`;
  const to = resumed === null ? 'never resumed' : `resumed at ${whole(resumed)}`;
  const pages = isClean
    ? 'no page lost, none stored twice'
    : `${counted(kill.pages_lost, 'page')} lost, ${whole(kill.pages_stored_twice)} stored twice`;
  const detail = `  SIGKILL to process ${pid}, midway in ${kill.feed ?? 'no feed'}`;
  return [
    ...prose(look, `${signOf(look, isClean)} Killed ${from}, ${to}: ${pages}`),
    paint(look, 'quiet', fitted(look, detail)),
  ];
}
