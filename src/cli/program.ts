import { Command, CommanderError, Option } from 'commander';
import { logFormats, logLevels } from '../log-levels.ts';
import { asCalled } from './called.ts';
import { commandNamed, commands } from './commands.ts';
import {
  exitCodes,
  OutputClosedError,
  type Action,
  type Context,
  type ExitCode,
  type GlobalOptions,
} from './context.ts';
import type { Failure } from './failure.ts';
import { addGlobalHint, registerHelp } from './help.ts';
import { version } from './version.ts';

/**
 * Runs the program with a user's arguments.
 *
 * @param args without the interpreter and the script
 * @returns the exit code; every failure has been told on stderr by then
 */
export async function runProgram(
  args: readonly string[],
  outer: Omit<Context, 'args'>,
): Promise<ExitCode> {
  let code = exitCodes.done as ExitCode;
  let hasWritten = false;
  const context: Context = {
    ...outer,
    args,
    stdout: (text) => {
      hasWritten = true;
      outer.stdout(text);
    },
  };
  const program = describeProgram(context);
  const run =
    <Options>(action: Action<Options>) =>
    async (options: Options, command: Command): Promise<void> => {
      const globals = command.optsWithGlobals<GlobalOptions>();
      code = await action(context, { ...globals, ...options });
    };
  const load = async (command: Command): Promise<void> => {
    const register = await commandNamed(command.name())?.load();
    register?.({ command, run });
    // A lone `--no-…` is true unless it is given; commander looked for such before the command had any.
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
    // Loading takes up to a second, and more on a busy machine.
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
  const isDocumented = asksJson(args) && !hasWritten;
  return endInFailure(failed, context, { ...program.opts<GlobalOptions>(), isDocumented });
}

/**
 * Tells a failure on stderr, and as a document where one is wanted and none was begun: half of one and
 * another behind it are nothing that a program can read.
 */
async function endInFailure(
  error: unknown,
  context: Context,
  options: GlobalOptions & { readonly isDocumented: boolean },
): Promise<ExitCode> {
  const { failureOf, interruption, tellFailure, writeFailure, wrongFlags } =
    await import('./failure.ts');
  const write = (failure: Failure) =>
    options.isDocumented ? writeFailure(context, failure) : failure.exit.code;
  // Whoever waited for something was told to stop, and had nothing under way.
  const { signal } = context;
  if (error === null || (signal.aborted && error === signal.reason)) return write(interruption);
  // The parser has told it.
  if (error instanceof CommanderError) return write(wrongFlags(error));
  const failure = failureOf(error, options);
  tellFailure(context, failure);
  return write(failure);
}

/** Also of flags that the parser refused before it came to this one. */
function asksJson(args: readonly string[]): boolean {
  const end = args.indexOf('--');
  return args.slice(0, end === -1 ? undefined : end).includes('--json');
}

/** The program with the options that all its commands have. */
function describeProgram({ stdout, stderr, out, err, program }: Context): Command {
  return new Command('explorer-etl')
    .description("Copies a blockchain explorer's paginated API into Postgres.")
    .version(version())
    .option('--config <file>', 'configuration file (default: explorer-etl.yaml if it is there)')
    .option('--database-url <url>', 'Postgres to use (default: DATABASE_URL, else an embedded one)')
    .addOption(
      new Option('--log-level <level>', 'least level of log lines on stderr')
        .choices([...logLevels])
        .default('info'),
    )
    .addOption(
      new Option(
        '--log-format <format>',
        'how log lines look (default: pretty on a terminal, else json)',
      ).choices([...logFormats]),
    )
    .option('--json', 'print one JSON document on stdout and nothing else there', false)
    .option('--quiet', 'no progress', false)
    .configureOutput({
      writeOut: (text) => stdout(asCalled(text, program)),
      writeErr: (text) => stderr(asCalled(text, program)),
      getOutHelpWidth: () => out.columns,
      getErrHelpWidth: () => err.columns,
      getOutHasColors: () => out.isColoured,
      getErrHasColors: () => err.isColoured,
    })
    .showSuggestionAfterError()
    .exitOverride();
}
