import { operationNames, operations } from '../operations/index.ts';
import type { SyncTarget } from '../jobs/sync.ts';
import Table from 'cli-table3';
import { devNull } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { openDatabase, prepareDatabase, type OpenDatabase } from '../app.ts';
import type { Settings } from '../config/settings.ts';
import { stopEmbeddedPostgres } from '../embedded-postgres/postgres.ts';
import { presets, startSimulator, type Simulator } from '../simulator/index.ts';
import {
  exitCodes,
  settingsOf,
  waitingOf,
  type Context,
  type ExitCode,
  type GlobalOptions,
  type Registry,
} from './context.ts';
import { syncTargets, targetsOf } from './sync.ts';
import { tellWhere } from './where.ts';

/** What the demo's world is made from; any seed will do. */
const demoSeed = 1;
/** The demo's explorer is on this machine, so its rate is no one's limit. */
const demoRequestsPerSecond = 10_000;
const demoKey = 'demo-key';
/** Its port is another each time, its data never is: real data in the same database is refused. */
const demoOrigin = `simulated explorer of demo, seed ${demoSeed}`;
/** A folder that holds no configuration file, on any machine. */
const noFolder = devNull;

/** `demo`: the whole program against a simulated explorer, on an embedded Postgres. */
export function registerDemo({ program, run }: Registry): void {
  program
    .command('demo')
    .description('copy two simulated chains into an embedded Postgres, and show the tables')
    .option('--stop', 'only stop the Postgres that an earlier demo left running', false)
    .addHelpText('after', '\nExample:\n  explorer-etl demo\n')
    .action(
      run<{ stop: boolean }>((context, options) =>
        options.stop ? stopDemo(context) : demo(context, options),
      ),
    );
}

async function stopDemo(context: Context): Promise<ExitCode> {
  const stopped = await stopEmbeddedPostgres(join(context.cwd, '.explorer-etl'));
  context.stdout(stopped ? 'Stopped.\n' : 'Nothing was running.\n');
  return exitCodes.done;
}

async function demo(context: Context, options: GlobalOptions): Promise<ExitCode> {
  const simulator = await startSimulator({
    seed: demoSeed,
    chains: presets.demo,
    apiKey: demoKey,
  });
  try {
    return await demoAgainst(simulator, context, options);
  } finally {
    await simulator.close();
  }
}

async function demoAgainst(
  simulator: Simulator,
  context: Context,
  options: GlobalOptions,
): Promise<ExitCode> {
  const settings = demoSettings(context, options, simulator.url);
  const database = await openDatabase(settings, { cwd: context.cwd, name: 'demo' });
  try {
    tellWhere(context, options, database);
    await prepareDatabase(database, waitingOf(context));
    const started = performance.now();
    const before = await itemsRead(database);
    const targets = demoTargets(settings);
    const quiet = { ...options, logLevel: 'warn', origin: demoOrigin } as const;
    const results = await syncTargets(context, quiet, settings, database, targets);
    const seconds = (performance.now() - started) / 1000;
    if (context.signal.aborted) return exitCodes.interrupted;
    const items = (await itemsRead(database)) - before;
    await report(context, database, { seconds, items, requests: simulator.requests });
    const failed = results.filter(({ state }) => state !== 'finished');
    for (const { feed, reason } of failed) context.stderr(`${feed}: ${reason}\n`);
    return failed.length === 0 ? exitCodes.done : exitCodes.failed;
  } finally {
    // The server is left running on purpose: the last lines say how to look into it.
    await database.pool.end();
    await database.embedded?.detach();
  }
}

async function itemsRead({ pool }: OpenDatabase): Promise<number> {
  const { rows } = await pool.query<{ items: string }>(
    'select coalesce(sum(items), 0) as items from etl.walks',
  );
  return Number(rows[0]?.items ?? 0);
}

function demoSettings(context: Context, options: GlobalOptions, baseUrl: string): Settings {
  const chains = presets.demo.map(({ id }) => String(id));
  const { DATABASE_URL, DATABASE_URL_DIRECT } = context.env;
  const env = { DATABASE_URL, DATABASE_URL_DIRECT, EXPLORER_API_KEY: demoKey };
  // Whatever file lies in this folder or is named is about other chains.
  const { config: _ignored, ...rest } = options;
  const settings = settingsOf({ ...context, env, cwd: noFolder }, { ...rest, chain: chains });
  return {
    ...settings,
    explorer: { ...settings.explorer, baseUrl, requestsPerSecond: demoRequestsPerSecond },
  };
}

/** The batches that the simulated chains have. */
function demoTargets({ chains, ...settings }: Settings): SyncTarget[] {
  return chains.flatMap((chain) => {
    const simulated = presets.demo.find(({ id }) => id === chain.id);
    const range = simulated?.batches;
    const bounds =
      range === undefined ? {} : { fromBatch: range.first, toBatch: range.first + range.count - 1 };
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
    `\nThe database stays up. Look around:  psql ${url}\nStop it:  explorer-etl demo --stop  (here: npm run demo -- --stop)\n`,
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
