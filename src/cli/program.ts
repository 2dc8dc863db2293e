import { Command, CommanderError, Option } from 'commander';
import { logLevels } from '../log-levels.ts';
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
import { registerCompletion } from './completion.ts';
import { addGlobalHint, registerHelp } from './help.ts';
import { version } from './version.ts';

/**
 * Runs the program with a user's arguments.
 *
 * @param args without the interpreter and the script
 * @returns the exit code; every failure has been told on stderr by then
 */
export async function runProgram(args: readonly string[], context: Context): Promise<ExitCode> {
  let code: ExitCode = exitCodes.done;
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
    addGlobalHint(command);
  };
  for (const { name, description, group } of commands) {
    program.command(name).description(description).helpGroup(group);
  }
  program.hook('preSubcommand', (_, command) => load(command));
  registerHelp(program, load);
  registerCompletion(program, load);
  try {
    await program.parseAsync(args, { from: 'user' });
    return code;
  } catch (error) {
    if (error instanceof CommanderError)
      return error.exitCode === 0 ? exitCodes.done : exitCodes.wrongUse;
    // Whoever waited for something was told to stop, and had nothing under way.
    if (context.signal.aborted && error === context.signal.reason) return exitCodes.interrupted;
    if (error instanceof OutputClosedError) return exitCodes.done;
    const { reportFailure } = await import('./failure.ts');
    return reportFailure(error, context, program.opts<GlobalOptions>());
  }
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
