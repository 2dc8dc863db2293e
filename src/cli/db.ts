import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { z } from 'zod';
import { parseUrl, passwordOf } from '../db/url.ts';
import {
  inspectEmbeddedPostgres,
  startEmbeddedPostgres,
  stopEmbeddedPostgres,
  type EmbeddedPostgresState,
} from '../postgres/postgres.ts';
import { type CommandLine, exits, UsageError, type Context, type Registry } from './context.ts';
import { demoDatabase, embeddedDirectory, openFor, readSettings } from './database.ts';

const serverDocument = <const Name extends string>(name: Name) =>
  z.strictObject({
    schema: z.literal(name),
    running: z.boolean(),
    /** Its process, and its port on 127.0.0.1; null: not running. */
    pid: z.int().nullable(),
    port: z.int().nullable(),
    /** Null: not created yet. */
    data_directory: z.string().nullable(),
    log_file: z.string().nullable(),
  });

export const dbStartDocument = serverDocument('explorer-etl/db-start/1');
export const dbStatusDocument = serverDocument('explorer-etl/db-status/1');

export const dbStopDocument = z.strictObject({
  schema: z.literal('explorer-etl/db-stop/1'),
  /** False: it was not running. */
  stopped: z.boolean(),
});

export const dbUrlDocument = z.strictObject({
  schema: z.literal('explorer-etl/db-url/1'),
  /** Includes the password only for the embedded Postgres. */
  url: z.string(),
});

/** `db start|stop|status|url|shell`: manages the embedded Postgres for a person. */
export function register({ command, run, explain }: Registry): void {
  explain(['explorer-etl db start', 'explorer-etl db shell', 'explorer-etl db stop']);
  command.command('start').description('start it; it runs until db stop').action(run(start));
  command
    .command('stop')
    .description('stop it; connected programs lose what they had not committed')
    .action(run(stop));
  command.command('status').description('whether it runs, and where').action(run(status));
  command
    .command('url')
    .description('print its address, password included, for other programs')
    .action(run(printUrl));
  const shell = command
    .command('shell')
    .argument('[arguments...]', 'for psql, behind --')
    .description('open psql in the database that the other commands use')
    .action(run(psql));
  const tables = String.raw`explorer-etl db shell -- -c "\\dt explorer.*"`;
  explain(['explorer-etl db shell', tables], '', shell);
}

async function start(context: Context) {
  await startEmbeddedPostgres({ directory: embeddedOf(context), signal: context.signal });
  return printState(context, dbStartDocument);
}

const status = (context: Context) => printState(context, dbStatusDocument);

async function stop(context: Context) {
  const stopped = await stopEmbeddedPostgres(embeddedOf(context));
  const text = stopped ? 'Stopped.\n' : 'It was not running.\n';
  return context.print(dbStopDocument, { stopped }, text);
}

async function printState(
  context: Context,
  schema: typeof dbStartDocument | typeof dbStatusDocument,
) {
  const state = await inspectEmbeddedPostgres(embeddedOf(context));
  const { pid = null, port = null } = state?.server ?? {};
  const { dataDirectory: data_directory = null, logFile: log_file = null } = state ?? {};
  const fields = { running: pid !== null, pid, port, data_directory, log_file };
  return context.print(schema, fields, stateText(state, context.commandLine));
}

function stateText(state: EmbeddedPostgresState, line: CommandLine): string {
  if (state === null) return 'There is none here yet.\n';
  const files = `Data:      ${state.dataDirectory}\nLog:       ${state.logFile}\n`;
  if (state.server === null) {
    return `Not running.  Start it:  ${line('explorer-etl db start')}\n${files}`;
  }
  const { port, pid } = state.server;
  return `Running on 127.0.0.1:${port}, process ${pid}. Stop it:  ${line('explorer-etl db stop')}
${files}Queries:   ${line('explorer-etl query --list')}
In SQL:    ${line('explorer-etl db shell')}
Connect:   ${line('explorer-etl db url')}    prints its address, with the password
`;
}

async function printUrl(context: Context) {
  const url = await addressOf(context);
  return context.print(dbUrlDocument, { url }, `${url}\n`);
}

async function addressOf(context: Context): Promise<string> {
  const { databaseUrl } = readSettings(context, {}, 'database');
  if (databaseUrl !== null) {
    if (context.demo) embeddedOf(context);
    context.warn('Without its password: you gave that address yourself.');
    return withoutPassword(databaseUrl).url;
  }
  const state = await inspectEmbeddedPostgres(embeddedDirectory(context));
  if (state === null || state.server === null) {
    throw new UsageError('the embedded Postgres does not run, so it has no address.', {
      command: 'explorer-etl db start',
    });
  }
  const address = new URL(state.server.url);
  if (context.demo) address.pathname = `/${demoDatabase}`;
  return address.href;
}

/** The directory of the embedded Postgres. @throws UsageError if another Postgres is in use */
function embeddedOf(context: Context): string {
  if (readSettings(context, {}, 'database').databaseUrl === null) {
    return embeddedDirectory(context);
  }
  const named = context.databaseUrl === undefined ? 'DATABASE_URL' : '--database-url';
  throw new UsageError(
    `no embedded Postgres is in use: ${named} names a server of your own, which this program neither starts nor stops.`,
  );
}

/** Variables that psql, its pager and its editor need; none may contain a key. */
const handedOn =
  /^(?:PATH|HOME|USER|LOGNAME|SHELL|TERM|COLORTERM|NO_COLOR|LANG|LC_\w+|TZ|TMPDIR|PAGER|LESS\w*|EDITOR|VISUAL|PSQL\w*|PG\w+|XDG_\w+)$/u;

/**
 * Runs psql on the database of the settings. The environment passes the password: other users can read arguments.
 * @throws UsageError if psql is not installed
 */
async function psql(context: Context, _options: object, args: readonly string[]) {
  if (context.json) {
    throw new UsageError('stdout belongs to psql here, so there is no --json: use query --json.');
  }
  const settings = readSettings(context, {}, 'database');
  // `reads` accepts a standby: psql reports it, and users may write.
  await using database = await openFor(settings, context, 'reads');
  const code = await runPsql(context, forLibpq(database.url), args);
  return code === 0 ? exits.done : exits.failed;
}

/** A URL with node-postgres' own parameters translated for libpq, which refuses unknown ones. */
export function forLibpq(url: string): string {
  const address = parseUrl(url);
  const { searchParams } = address;
  const [mode, ssl] = [searchParams.get('sslmode'), searchParams.get('ssl') ?? ''];
  if (mode === 'no-verify' || (mode === null && /^(?:1|true)$/u.test(ssl))) {
    searchParams.set('sslmode', 'require');
  }
  for (const own of ['ssl', 'uselibpqcompat']) searchParams.delete(own);
  return address.href;
}

/** A Postgres URL without its password, and the password: other users can see arguments. */
function withoutPassword(given: string) {
  const password = passwordOf(given);
  if (password === null) return { url: given, password };
  const address = parseUrl(given);
  address.password = '';
  address.searchParams.delete('password');
  return { url: address.href, password };
}

/** @returns the exit code */
async function runPsql(
  { env, cwd, signal, yieldTerminal, commandLine }: Context,
  database: string,
  args: readonly string[],
): Promise<number> {
  const { url, password } = withoutPassword(database);
  const own = Object.entries(env).filter(([name]) => handedOn.test(name));
  const child = spawn('psql', [url, ...args], {
    cwd,
    stdio: 'inherit',
    env: { ...Object.fromEntries(own), ...(password !== null && { PGPASSWORD: password }) },
  });
  // psql restores the terminal before it ends.
  signal.addEventListener('abort', () => child.kill('SIGTERM'), { once: true });
  // A Ctrl-C in psql cancels its statement.
  yieldTerminal?.();
  try {
    const [code] = (await once(child, 'close')) as [number | null];
    signal.throwIfAborted();
    return code ?? exits.failed.code;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    throw new UsageError(notInstalled(commandLine));
  }
}

const notInstalled = (line: CommandLine): string =>
  `psql is not installed: apt install postgresql-client (Debian, Ubuntu), brew install libpq (macOS), https://www.postgresql.org/download/. Without it: ${line('explorer-etl query "select …"')}; ${line('explorer-etl db url')} prints the address for other programs.`;
