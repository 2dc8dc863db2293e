import type { Command } from 'commander';
import {
  inspectEmbeddedPostgres,
  startEmbeddedPostgres,
  stopEmbeddedPostgres,
  type EmbeddedPostgresState,
} from '../postgres/postgres.ts';
import {
  exitCodes,
  UsageError,
  writeDocument,
  type Context,
  type ExitCode,
  type GlobalOptions,
  type Registry,
} from './context.ts';
import { settingsOf } from './setup.ts';
import { demoDatabase, embeddedDirectory } from './existing.ts';
import { exits } from './exits.ts';
import { print } from './print.ts';
import { psql, withoutPassword } from './psql.ts';

interface DemoOption {
  readonly demo?: boolean;
}

/** `db start|stop|status|url|shell`: the embedded Postgres for a person to keep and to connect to. */
export function registerDb({ command, run }: Registry): void {
  const group = command.addHelpText(
    'after',
    '\nExamples:\n  explorer-etl db start\n  explorer-etl db shell\n  explorer-etl db stop\n',
  );
  group.command('start').description('start it; it runs until db stop').action(run<object>(start));
  group
    .command('stop')
    .description('stop it; connected programs lose what they had not committed')
    .action(run<object>(stop));
  group.command('status').description('whether it runs, and where').action(run<object>(status));
  addDemo(group.command('url'))
    .description('print its address, password included, for other programs')
    .action(run<DemoOption>(url));
  addDemo(group.command('shell'))
    .argument('[arguments...]', 'for psql, behind --')
    .description('open psql in the database that the other commands use')
    .addHelpText(
      'after',
      '\nExamples:\n  explorer-etl db shell\n  explorer-etl db shell -- -c "\\\\dt explorer.*"\n',
    )
    .action((args: readonly string[], options: DemoOption, shell: Command) =>
      run<DemoOption>((context, all) => psql(context, all, args))(options, shell),
    );
}

const addDemo = (command: Command): Command =>
  command.option('--demo', "the demo's database instead");

async function start(context: Context, options: GlobalOptions): Promise<ExitCode> {
  demandEmbedded(context, options);
  const directory = embeddedDirectory(context);
  await startEmbeddedPostgres({ directory });
  return tell(context, options, 'db-start', await inspectEmbeddedPostgres(directory));
}

async function stop(context: Context, options: GlobalOptions): Promise<ExitCode> {
  demandEmbedded(context, options);
  const stopped = await stopEmbeddedPostgres(embeddedDirectory(context));
  if (options.json) {
    writeDocument(context, { schema: 'explorer-etl/db-stop/1', exit: exits.done, stopped });
  } else context.stdout(stopped ? 'Stopped.\n' : 'It was not running.\n');
  return exitCodes.done;
}

async function status(context: Context, options: GlobalOptions): Promise<ExitCode> {
  demandEmbedded(context, options);
  const state = await inspectEmbeddedPostgres(embeddedDirectory(context));
  return tell(context, options, 'db-status', state);
}

/** Says how it is, without the password. */
function tell(
  context: Context,
  { json }: GlobalOptions,
  name: 'db-start' | 'db-status',
  state: EmbeddedPostgresState | null,
): ExitCode {
  const server = state?.server ?? null;
  if (json) {
    writeDocument(context, {
      schema: `explorer-etl/${name}/1`,
      exit: exits.done,
      running: server !== null,
      pid: server?.pid ?? null,
      port: server?.port ?? null,
      data_directory: state?.dataDirectory ?? null,
      log_file: state?.logFile ?? null,
    });
    return exitCodes.done;
  }
  print(context, `${(state === null ? ['There is none here yet.'] : lines(state)).join('\n')}\n`);
  return exitCodes.done;
}

function lines({ server, dataDirectory, logFile }: EmbeddedPostgresState): string[] {
  const files = [`Data:      ${dataDirectory}`, `Log:       ${logFile}`];
  if (server === null) return ['Not running.  Start it:  explorer-etl db start', ...files];
  return [
    `Running on 127.0.0.1:${server.port}, process ${server.pid}, until "explorer-etl db stop".`,
    ...files,
    'Look:      explorer-etl query --list    or in SQL:  explorer-etl db shell',
    'Connect:   explorer-etl db url    prints its address, with the password',
  ];
}

async function url(context: Context, options: GlobalOptions & DemoOption): Promise<ExitCode> {
  const settings = settingsOf(context, options, 'database');
  const { databaseUrl } = settings;
  if (databaseUrl !== null) {
    if (options.demo === true) demandEmbedded(context, options);
    context.stderr('Without its password: you gave that address yourself.\n');
    return tellUrl(context, options, withoutPassword(databaseUrl).url);
  }
  const state = await inspectEmbeddedPostgres(embeddedDirectory(context));
  if (state === null || state.server === null) {
    throw new UsageError(
      'the embedded Postgres does not run, so it has no address: start it with "explorer-etl db start".',
    );
  }
  const address = new URL(state.server.url);
  if (options.demo === true) address.pathname = `/${demoDatabase}`;
  return tellUrl(context, options, address.href);
}

function tellUrl(context: Context, { json }: GlobalOptions, address: string): ExitCode {
  if (json) {
    writeDocument(context, {
      schema: 'explorer-etl/db-url/1',
      exit: exits.done,
      url: address,
    });
  } else context.stdout(`${address}\n`);
  return exitCodes.done;
}

/** @throws UsageError if another Postgres is in use */
function demandEmbedded(context: Context, options: GlobalOptions): void {
  if (settingsOf(context, options, 'database').databaseUrl === null) return;
  const named = options.databaseUrl === undefined ? 'DATABASE_URL' : '--database-url';
  throw new UsageError(
    `no embedded Postgres is in use: ${named} names a server of your own, which this program neither starts nor stops.`,
  );
}
