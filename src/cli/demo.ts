import { operationNames, operations } from '../operations/index.ts';
import type { SyncTarget } from '../jobs/sync.ts';
import Table from 'cli-table3';
import { devNull } from 'node:os';
import { resolve } from 'node:path';
import { performance } from 'node:perf_hooks';
import { prepareDatabase } from '../app.ts';
import { openDatabase, type OpenDatabase } from '../open-database.ts';
import type { Settings } from '../config/settings.ts';
import { stopEmbeddedPostgres } from '../embedded-postgres/postgres.ts';
import {
  demoChains,
  demoStart,
  startSimulator,
  type SimulatedChain,
  type Simulator,
} from '../simulator/index.ts';
import {
  exitCodes,
  waitingOf,
  type Context,
  type ExitCode,
  type GlobalOptions,
  type Registry,
} from './context.ts';
import { settingsOf } from './setup.ts';
import { demoDatabase, embeddedDirectory } from './existing.ts';
import { syncTargets, targetsOf } from './sync.ts';
import { tellWhere } from './where.ts';

/** What the demo's world is made from; any seed will do. */
const demoSeed = 1;
/** The demo's explorer is on this machine, so its rate is no one's limit. */
const demoRequestsPerSecond = 10_000;
const demoKey = 'demo-key';
/**
 * Its port is another each time, its data never is: real data in the same database is refused. The day
 * on which its world begins follows, so that a later run shows the same world, only longer.
 */
const demoOrigin = `simulated explorer of demo, seed ${demoSeed}, from `;
/** How many of the newest batches have their blocks copied: those of half a day would take a minute. */
const copiedBatches = 10;
/** A folder that holds no configuration file, on any machine. */
const noFolder = devNull;

/** `demo`: the whole program against a simulated explorer, on an embedded Postgres. */
export function registerDemo({ command, run }: Registry): void {
  command
    .option('--stop', 'only stop the Postgres that an earlier demo left running', false)
    .addHelpText('after', '\nExamples:\n  explorer-etl demo\n  explorer-etl demo --stop\n')
    .action(
      run<{ stop: boolean }>((context, options) =>
        options.stop ? stopDemo(context) : demo(context, options),
      ),
    );
}

async function stopDemo(context: Context): Promise<ExitCode> {
  const stopped = await stopEmbeddedPostgres(embeddedDirectory(context));
  context.stdout(stopped ? 'Stopped.\n' : 'Nothing was running.\n');
  return exitCodes.done;
}

async function demo(context: Context, options: GlobalOptions): Promise<ExitCode> {
  const nowMs = Date.now();
  const settings = demoSettings(context, options, demoChains(demoStart(nowMs), nowMs));
  const database = await openDatabase(settings, { cwd: context.cwd, name: demoDatabase });
  try {
    tellWhere(context, options, database);
    await prepareDatabase(database, waitingOf(context));
    const startMs = (await storedStart(database)) ?? demoStart(nowMs);
    const chains = demoChains(startMs, nowMs);
    const simulator = await startSimulator({ seed: demoSeed, chains, apiKey: demoKey });
    try {
      return await demoAgainst(
        { simulator, chains, startMs },
        context,
        options,
        settings,
        database,
      );
    } finally {
      await simulator.close();
    }
  } finally {
    // The server is left running on purpose: the last lines say how to look into it.
    await database.pool.end();
    await database.embedded?.detach();
  }
}

/** What is to be copied. */
interface DemoWorld {
  readonly simulator: Simulator;
  readonly chains: readonly SimulatedChain[];
  readonly startMs: number;
}

async function demoAgainst(
  { simulator, chains, startMs }: DemoWorld,
  context: Context,
  options: GlobalOptions,
  settings: Settings,
  database: OpenDatabase,
): Promise<ExitCode> {
  const started = performance.now();
  const before = await itemsRead(database);
  const origin = demoOrigin + new Date(startMs).toISOString().slice(0, 10);
  const quiet = { ...options, logLevel: 'warn', origin } as const;
  const explorer = { ...settings.explorer, baseUrl: simulator.url };
  const targets = demoTargets(settings, chains);
  const results = await syncTargets(context, quiet, { ...settings, explorer }, database, targets);
  const seconds = (performance.now() - started) / 1000;
  if (context.signal.aborted) return exitCodes.interrupted;
  const items = (await itemsRead(database)) - before;
  await report(context, database, { seconds, items, requests: simulator.requests });
  const failed = results.filter(({ state }) => state !== 'finished');
  for (const { feed, reason } of failed) context.stderr(`${feed}: ${reason}\n`);
  return failed.length === 0 ? exitCodes.done : exitCodes.failed;
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

async function itemsRead({ pool }: OpenDatabase): Promise<number> {
  const { rows } = await pool.query<{ items: string }>(
    'select coalesce(sum(items), 0) as items from etl.walks',
  );
  return Number(rows[0]?.items ?? 0);
}

/** What of the environment names the database, for settings that are read in another folder. */
function databaseOf({ env, cwd }: Context): NodeJS.ProcessEnv {
  const files = ['DATABASE_URL_FILE', 'DATABASE_URL_DIRECT_FILE'].flatMap((name) => {
    const path = env[name]?.trim() ?? '';
    // Empty is as good as unset, and no folder.
    return path === '' ? [] : [[name, resolve(cwd, path)]];
  });
  const { DATABASE_URL, DATABASE_URL_DIRECT } = env;
  return { DATABASE_URL, DATABASE_URL_DIRECT, ...Object.fromEntries(files) };
}

function demoSettings(
  context: Context,
  options: GlobalOptions,
  simulated: readonly SimulatedChain[],
): Settings {
  const chains = simulated.map(({ id }) => String(id));
  const env = { ...databaseOf(context), EXPLORER_API_KEY: demoKey };
  // Whatever file lies in this folder or is named is about other chains.
  const { config: _ignored, ...rest } = options;
  const settings = settingsOf({ ...context, env, cwd: noFolder }, { ...rest, chain: chains });
  return {
    ...settings,
    explorer: { ...settings.explorer, requestsPerSecond: demoRequestsPerSecond },
  };
}

/** All that the simulated chains have, and the blocks of their newest batches. */
function demoTargets(
  { chains, ...settings }: Settings,
  simulated: readonly SimulatedChain[],
): SyncTarget[] {
  return chains.flatMap((chain) => {
    const range = simulated.find(({ id }) => id === chain.id)?.batches;
    const newest = range === undefined ? undefined : range.first + range.count - 1;
    const bounds =
      newest === undefined ? {} : { fromBatch: newest - copiedBatches + 1, toBatch: newest };
    return targetsOf({ ...settings, chains: [chain] }, bounds, new Date());
  });
}

async function report(
  context: Context,
  { pool, url }: OpenDatabase,
  {
    seconds,
    items,
    requests,
  }: { readonly seconds: number; readonly items: number; readonly requests: number },
): Promise<void> {
  const { rows: counts } = await pool.query<{ table: string; rows: number }>(tableCounts);
  context.stdout('\nTables in schema explorer:\n');
  context.stdout(`${tabular(counts)}\n\n`);
  context.stdout(
    `${requests} requests, ${items} items in ${seconds.toFixed(1)} s: ${Math.round(items / seconds)} items/s\n`,
  );
  for (const { question, sql } of operationNames.map((name) => operations[name].guide)) {
    const { rows } = await pool.query<Answer>(sql);
    context.stdout(`\n${question}\n${sql.replaceAll(/^/gm, '  ')}\n${tabular(rows)}\n`);
  }
  context.stdout(
    `\nThe database stays up. Look around:  psql ${url}\n` +
      'Ask it:  explorer-etl query --demo top-senders  (all questions: query --list)\n' +
      'Stop it:  explorer-etl demo --stop  (here: npm run demo -- --stop)\n',
  );
}

/** Exact counts of every table, whatever tables there are. */
const tableCounts = `
  select table_name as table,
         (xpath('/row/n/text()', query_to_xml(
           format('select count(*) as n from explorer.%I', table_name), false, true, '')
         ))[1]::text::int as rows
  from information_schema.tables
  where table_schema = 'explorer' and table_type = 'BASE TABLE'
  order by rows desc, table_name`;

/** A row of an answer, as node-postgres reads the questions' types. */
type Answer = Readonly<Record<string, string | number | boolean | null>>;

function tabular(rows: readonly Answer[]): string {
  const columns = Object.keys(rows[0] ?? {});
  const table = new Table({ head: columns, style: { head: [], border: [] } });
  for (const row of rows) table.push(columns.map((column) => String(row[column] ?? '')));
  return table.toString();
}
