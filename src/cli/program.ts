import { once } from 'node:events';
import { Command, CommanderError, Option } from 'commander';
import { nearest } from '../config/nearest.ts';
import { logFormats, logLevels } from '../log.ts';
import { packageVersion } from '../package-file.ts';
import { terminalText } from '../terminal/layout.ts';
import {
  addDemo,
  commandLineOf,
  exits,
  writeJson,
  type Action,
  type Context,
  type World,
  type Exit,
  type GlobalOptions,
  type Registry,
} from './context.ts';
import type { Failure } from './failure.ts';

/** Loads a command: the whole program takes a second to load, and the help needs none of it. */
type Load = () => Promise<{ readonly register: (registry: Registry) => void }>;

const groups: Readonly<Record<string, Readonly<Record<string, readonly [string, Load]>>>> = {
  'Get started:': {
    demo: ['mirror two simulated chains, without a key', () => import('./demo.ts')],
    init: ['write explorer-etl.yaml to start from', () => import('./init.ts')],
    check: ['test configuration, database and API key', () => import('./check.ts')],
    plan: ['estimate requests, credits and days', () => import('./plan.ts')],
  },
  'Mirror:': {
    sync: ['bring feeds up to date once, and exit', () => import('./sync.ts')],
    start: ['keep feeds current by schedule, until a signal', () => import('./start.ts')],
    backfill: ['read history that is not covered yet', () => import('./backfill.ts')],
  },
  'Watch and verify:': {
    status: ['what each feed does, and what is left', () => import('./status.ts')],
    open: ['serve the page: status, coverage, queries', () => import('./open.ts')],
    verify: ['what is verified complete, and what is missing', () => import('./verify.ts')],
    repair: ['download what verify reports missing', () => import('./repair.ts')],
    quarantine: ['lists, retries or drops refused items', () => import('./quarantine.ts')],
    feeds: ['lists, pauses, polls, resets or forgets feeds', () => import('./feeds.ts')],
  },
  'Use the data:': {
    query: ['query the database: SQL, or a named query', () => import('./query.ts')],
    export: ['write tables, views or queries to files', () => import('./export.ts')],
    mcp: ['answer AI assistants, by the Model Context Protocol', () => import('./mcp.ts')],
    db: ['the embedded Postgres; a shell in any database', () => import('./db.ts')],
  },
  'Operate:': {
    migrate: ["bring the database's schema up to date", () => import('./migrate.ts')],
    replay: ['decode archived pages again, without a request', () => import('./replay.ts')],
    simulate: ['run the simulated explorer as a server', () => import('./simulate.ts')],
  },
};

export const commands = Object.entries(groups).flatMap(([group, those]) =>
  Object.entries(those).map(([name, [description, load]]) => ({ name, description, group, load })),
);

/** Runs the program with a user's arguments; reports failures on stderr. @returns the exit code */
export async function runProgram(args: readonly string[], outer: World): Promise<Exit['code']> {
  let exit = exits.done as Exit;
  let hasWritten = false;
  const world: World = {
    ...outer,
    stdout: (text) => {
      hasWritten = true;
      outer.stdout(terminalText(text));
    },
    stderr: (text) => outer.stderr(terminalText(text)),
  };
  const program = describeProgram(world);
  const run =
    <Options, Arguments extends unknown[]>(action: Action<Options, Arguments>) =>
    async (...given: [...Arguments, Options, Command]): Promise<void> => {
      const [options, command] = given.splice(-2) as [Options, Command];
      const demo = command.getOptionValue('demo') === true;
      const commandLine = commandLineOf({ ...world, demo });
      const flags = program.opts<GlobalOptions>();
      const print: Context['print'] = (schema, fields, text, ending = exits.done) => {
        if (flags.json) return writeJson(world, schema, fields, ending);
        world.stdout(text);
        return ending;
      };
      const { signal, stderr } = world;
      const warn = (line: string) => stderr(`${line}\n`);
      const context = {
        ...world,
        ...flags,
        demo,
        commandLine,
        waiting: { signal, report: warn },
        warn,
        note: flags.quiet ? () => undefined : warn,
        untilStopped: async () => void (signal.aborted || (await once(signal, 'abort'))),
        print,
      };
      exit = await action(context, options, ...(given as unknown as Arguments));
    };
  for (const { name, description, group } of commands) {
    program.command(name).description(description).helpGroup(group);
  }
  program.hook('preSubcommand', async (_, command) => {
    const { load } = commands.find(({ name }) => name === command.name()) ?? {};
    const isShown = world.err.isTerminal && !program.opts<GlobalOptions>().quiet;
    // In a clone, loading takes up to a second: longer than a person waits without a sign.
    if (isShown) outer.stderr('Loading …');
    const erase = () => void (isShown && outer.stderr('\r\u001B[K'));
    const loaded = await load?.().finally(erase);
    loaded?.register({ command, run, explain: explainOf(command, world) });
    addDemo(command);
    // The parser takes an unknown command for an argument of the default one.
    command.hook('preSubcommand', refuseUnknown);
  });
  try {
    await program.parseAsync(withoutHelp(args), { from: 'user' });
    return exit.code;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return exits.done.code;
    const isDocumented = wantsJson(args) && !hasWritten;
    const how = { ...program.opts<GlobalOptions>(), isDocumented };
    return (await endInFailure(error, world, how)).code;
  }
}

/** Reports a failure on stderr, and with --json as a document, unless another one has begun. */
async function endInFailure(
  error: unknown,
  world: World,
  options: GlobalOptions & { readonly isDocumented: boolean },
): Promise<Exit> {
  const { failureOf, interruption, linesOf, writeFailure, wrongFlags } =
    await import('./failure.ts');
  const write = (failure: Failure) =>
    options.isDocumented ? writeFailure(world, failure) : failure.exit;
  const { signal } = world;
  // The command only waited: there is no unfinished work. Timers wrap the signal's reason.
  const isSignal = error instanceof Error && [error, error.cause].includes(signal.reason);
  if (signal.aborted && isSignal) return write(interruption);
  const commandLine = commandLineOf({ ...world, demo: false });
  // The parser has reported it.
  if (error instanceof CommanderError) return write(wrongFlags(error, commandLine));
  const failure = failureOf(error, { ...options, commandLine });
  for (const line of linesOf(failure)) world.stderr(`explorer-etl: ${line}\n`);
  return write(failure);
}

/** Examples in a command's help, as the user has to type them. */
function explainOf(command: Command, { program }: World): Registry['explain'] {
  const line = commandLineOf({ program, demo: false });
  return (examples, notes = '', of = command) => {
    const typed = examples.map((example) => `  ${example.split(' && ').map(line).join(' && ')}`);
    const above = notes === '' ? '' : `\n${notes}\n`;
    of.addHelpText('after', `${above}\nExamples:\n${typed.join('\n')}`);
  };
}

/** `help` of a command is its `--help`, for which a hook loads it; an unknown command is refused. */
function withoutHelp(args: readonly string[]): readonly string[] {
  const [first, ...others] = args;
  if (first !== 'help') return args;
  // A flag may come before the command, which must not run.
  const isUnknown = others
    .slice(0, 1)
    .some((word) => !word.startsWith('-') && !commands.some(({ name }) => name === word));
  return isUnknown ? others : [...others, '--help'];
}

/** Refuses an unknown command where the parser does not. */
function refuseUnknown(command: Command): void {
  const [typed = '-'] = command.args;
  const known = command.commands.map((each) => each.name());
  if (typed.startsWith('-') || known.length === 0 || known.includes(typed)) return;
  const guess = nearest(typed, known);
  const advice = guess === null ? '' : `\n(Did you mean ${guess}?)`;
  command.error(`error: unknown command '${typed}'${advice}`, { code: 'commander.unknownCommand' });
}

/** Also works for flags that the parser refused. */
function wantsJson(args: readonly string[]): boolean {
  const end = args.indexOf('--');
  return args.slice(0, end === -1 ? undefined : end).includes('--json');
}

function describeProgram(world: World): Command {
  const { stdout, stderr, out, err, program: name } = world;
  const level = new Option('--log-level <level>', 'minimum log level on stderr');
  const lines = 'format of log lines (default: pretty on a terminal, else json)';
  const format = new Option('--log-format <format>', lines);
  const program = new Command(name)
    .description("Mirrors a Blockscout explorer's paginated API into Postgres.")
    .version(packageVersion())
    .helpCommand('help [command...]', 'show how a command is used')
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
  const help = commandLineOf({ ...world, demo: false })('explorer-etl help');
  const common = `\nOptions of all commands:  ${help}`;
  return (
    program
      // The parser shows the parent's help if one of an unknown command is wanted.
      .addHelpText('beforeAll', ({ command }) => {
        refuseUnknown(command);
        return '';
      })
      .addHelpText('afterAll', ({ command }) => (command === program ? '' : common))
  );
}
