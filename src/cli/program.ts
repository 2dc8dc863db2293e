import { Command, CommanderError, Option } from 'commander';
import { logFormats, logLevels } from '../log-levels.ts';
import { packageVersion } from '../package-file.ts';
import { addHelp, commandLineOf } from './command-line.ts';
import {
  exitCodes,
  OutputClosedError,
  type Action,
  type Context,
  type ExitCode,
  type GlobalOptions,
  type Register,
} from './context.ts';
import type { Failure } from './failure.ts';

/** What the help shows of a command, before the command is loaded. */
interface CommandEntry {
  readonly name: string;
  readonly description: string;
  readonly group: string;
  /** The whole program takes a second to load, and the help needs none of it. */
  readonly load: () => Promise<Register>;
}

const groups: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'Get started:': {
    demo: 'mirror two simulated chains into an embedded Postgres, without a key',
    init: 'write explorer-etl.yaml to start from',
    check: 'test configuration, database and API key',
    plan: 'estimate requests, credits and days, before and during a run',
  },
  'Mirror:': {
    sync: 'bring feeds up to date once, and exit',
    start: 'keep every feed current by its schedule, until SIGTERM or Ctrl-C',
    backfill: 'read history that is not covered yet, and nothing else',
  },
  'Watch and verify:': {
    status: 'what each feed does, how current and complete it is, and what is left',
    open: 'serve the page: status, coverage, credits and queries',
    verify: 'report for every feed what is verified complete, and what is missing',
    repair: 'download what verify reports missing',
    quarantine: 'items that could not become rows: list, retry, drop',
  },
  'Use the data:': {
    query: 'query the database: in SQL, or by the name of a query that is included',
    export: 'write tables, views or queries to files, by chain and day',
    db: 'the embedded Postgres: start, stop, status, url; a shell in any database',
  },
  'Operate:': {
    migrate: "bring the database's schema up to this program",
    replay: 'decode archived pages again with this version, and store what is new; no request',
    simulate: 'run the simulated explorer as a server, to try things without a key',
  },
};

const loaders: Readonly<Record<string, CommandEntry['load']>> = {
  demo: async () => (await import('./demo.ts')).registerDemo,
  init: async () => (await import('./init.ts')).registerInit,
  check: async () => (await import('./check.ts')).registerCheck,
  plan: async () => (await import('./plan.ts')).registerPlan,
  sync: async () => (await import('./sync.ts')).registerSync,
  start: async () => (await import('./start.ts')).registerStart,
  backfill: async () => (await import('./backfill.ts')).registerBackfill,
  status: async () => (await import('./status.ts')).registerStatus,
  open: async () => (await import('./open.ts')).registerOpen,
  verify: async () => (await import('./verify.ts')).registerVerify,
  repair: async () => (await import('./repair.ts')).registerRepair,
  quarantine: async () => (await import('./quarantine.ts')).registerQuarantine,
  query: async () => (await import('./query.ts')).registerQuery,
  export: async () => (await import('./export.ts')).registerExport,
  db: async () => (await import('./db.ts')).registerDb,
  migrate: async () => (await import('./migrate.ts')).registerMigrate,
  replay: async () => (await import('./replay.ts')).registerReplay,
  simulate: async () => (await import('./simulate.ts')).registerSimulate,
};

export const commands: readonly CommandEntry[] = Object.entries(groups).flatMap(
  ([group, descriptions]) =>
    Object.entries(descriptions).map(([name, description]) => {
      const load = loaders[name];
      if (load === undefined) throw new Error(`command ${name} has no module`);
      return { name, description, group, load };
    }),
);

/** Runs the program with a user's arguments; reports failures on stderr. @returns the exit code */
export async function runProgram(args: readonly string[], outer: Context): Promise<ExitCode> {
  let code = exitCodes.done as ExitCode;
  let hasWritten = false;
  const context: Context = {
    ...outer,
    stdout: (text) => {
      hasWritten = true;
      outer.stdout(text);
    },
  };
  const program = describeProgram(context);
  const run =
    <Options, Arguments extends unknown[]>(action: Action<Options, Arguments>) =>
    async (...given: [...Arguments, Options, Command]): Promise<void> => {
      const [options, command] = given.splice(-2) as [Options, Command];
      const globals = command.optsWithGlobals<GlobalOptions>();
      code = await action(context, { ...globals, ...options }, ...(given as unknown as Arguments));
    };
  const load = async (command: Command): Promise<void> => {
    const register = await commands.find(({ name }) => name === command.name())?.load();
    register?.({ command, run });
    // A lone `--no-…` defaults to true; commander looks for them before they are added.
    for (const option of command.options.filter(({ negate }) => negate)) {
      const name = option.attributeName();
      if (command.getOptionValue(name) === undefined) {
        command.setOptionValueWithSource(name, true, 'default');
      }
    }
    addGlobalHint(command);
  };
  for (const { name, description, group } of commands) {
    program.command(name).description(description).helpGroup(group);
  }
  program.hook('preSubcommand', async (_, command) => {
    const isShown = context.err.isTerminal && !args.includes('--quiet');
    // Loading takes a second, and more on a busy machine.
    if (isShown) context.stderr('Loading …');
    await load(command);
    if (isShown) context.stderr('\r\u001b[K');
  });
  registerHelp(program, load);
  let failed: unknown = null;
  try {
    await program.parseAsync(args, { from: 'user' });
    if (code !== exitCodes.interrupted) return code;
  } catch (error) {
    if (error instanceof OutputClosedError) return exitCodes.done;
    if (error instanceof CommanderError && error.exitCode === 0) return exitCodes.done;
    failed = error;
  }
  const isDocumented = wantsJson(args) && !hasWritten;
  return endInFailure(failed, context, { ...program.opts<GlobalOptions>(), isDocumented });
}

/** Reports a failure on stderr, and with --json as a document, unless another one has begun. */
async function endInFailure(
  error: unknown,
  context: Context,
  options: GlobalOptions & { readonly isDocumented: boolean },
): Promise<ExitCode> {
  const { failureOf, interruption, printFailure, writeFailure, wrongFlags } =
    await import('./failure.ts');
  const write = (failure: Failure) =>
    options.isDocumented ? writeFailure(context, failure) : failure.exit.code;
  const { signal } = context;
  // The command only waited: there is no unfinished work.
  if (error === null || (signal.aborted && error === signal.reason)) return write(interruption);
  const commandLine = commandLineOf(context);
  // The parser has reported it.
  if (error instanceof CommanderError) return write(wrongFlags(error, commandLine));
  const failure = failureOf(error, { ...options, commandLine });
  printFailure(context, failure);
  return write(failure);
}

/** Also works for flags that the parser refused. */
function wantsJson(args: readonly string[]): boolean {
  const end = args.indexOf('--');
  return args.slice(0, end === -1 ? undefined : end).includes('--json');
}

function describeProgram({ stdout, stderr, out, err, program }: Context): Command {
  const level = new Option('--log-level <level>', 'minimum log level on stderr');
  const lines = 'format of log lines (default: pretty on a terminal, else json)';
  const format = new Option('--log-format <format>', lines);
  return new Command(program)
    .description("Mirrors a Blockscout explorer's paginated API into Postgres.")
    .version(packageVersion())
    .option('--config <file>', 'configuration file (default: explorer-etl.yaml if it exists)')
    .option('--database-url <url>', 'Postgres to use (default: DATABASE_URL, else an embedded one)')
    .addOption(level.choices(logLevels).default('info'))
    .addOption(format.choices(logFormats))
    .option('--json', 'print one JSON document on stdout and nothing else there', false)
    .option('--quiet', 'no progress', false)
    .configureOutput({
      writeOut: stdout,
      writeErr: stderr,
      getOutHelpWidth: () => out.columns,
      getErrHelpWidth: () => err.columns,
      getOutHasColors: () => out.isColoured,
      getErrHasColors: () => err.isColoured,
    })
    .showSuggestionAfterError()
    .exitOverride();
}

/** `help [command…]`: the same as `--help` after the command. */
function registerHelp(program: Command, load: (command: Command) => Promise<void>): void {
  program.helpCommand(false);
  program
    .command('help')
    .argument('[command...]', 'the command that it is about')
    .description('show how a command is used')
    .helpGroup('Get started:')
    .action(async (names: readonly string[]) => {
      let [wanted, isLoaded] = [program, false];
      for (const name of names) {
        const found = wanted.commands.find((command) => command.name() === name);
        if (found === undefined) {
          const help = commandLineOf({ program: program.name() })('explorer-etl help');
          return wanted.error(`error: unknown command '${names.join(' ')}'; see: ${help}`);
        }
        // For `help`, a hook has already loaded it.
        if (!isLoaded && found.name() !== 'help') await load(found);
        [wanted, isLoaded] = [found, true];
      }
      wanted.help();
    });
}

/** The help of each command refers to the one list of common options. */
function addGlobalHint(command: Command): void {
  addHelp(command, (line) => `\nOptions of all commands:  ${line('explorer-etl help')}`);
  command.commands.forEach(addGlobalHint);
}
