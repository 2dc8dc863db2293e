import { Command, CommanderError, Option } from 'commander';
import { logLevels } from '../log.ts';
import { registerBackfill } from './backfill.ts';
import { registerCheck } from './check.ts';
import {
  exitCodes,
  OutputClosedError,
  type Action,
  type Context,
  type ExitCode,
  type GlobalOptions,
} from './context.ts';
import { registerDb } from './db.ts';
import { registerDemo } from './demo.ts';
import { registerExport } from './export.ts';
import { reportFailure } from './failure.ts';
import { registerInit } from './init.ts';
import { registerMigrate } from './migrate.ts';
import { registerPlan } from './plan.ts';
import { registerQuery } from './query.ts';
import { registerQuarantine } from './quarantine.ts';
import { registerRepair } from './repair.ts';
import { registerReplay } from './replay.ts';
import { registerSimulate } from './simulate.ts';
import { registerStart } from './start.ts';
import { registerStatus } from './status.ts';
import { registerSync } from './sync.ts';
import { registerVerify } from './verify.ts';
import { version } from './version.ts';

/**
 * Runs the program with a user's arguments.
 *
 * @param args without the interpreter and the script
 * @returns the exit code; every failure has been told on stderr by then
 */
export async function runProgram(args: readonly string[], context: Context): Promise<ExitCode> {
  let code: ExitCode = exitCodes.done;
  const program = new Command('explorer-etl');
  program
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
    .configureOutput({ writeOut: context.stdout, writeErr: context.stderr })
    .showSuggestionAfterError()
    .configureHelp({ showGlobalOptions: true })
    .exitOverride();
  const run =
    <Options>(action: Action<Options>) =>
    async (options: Options, command: Command): Promise<void> => {
      const globals = command.optsWithGlobals<GlobalOptions>();
      code = await action(context, { ...globals, ...options });
    };
  const registry = { program, run };
  registerDemo(registry);
  registerInit(registry);
  registerCheck(registry);
  registerMigrate(registry);
  registerSync(registry);
  registerBackfill(registry);
  registerPlan(registry);
  registerStart(registry);
  registerStatus(registry);
  registerQuery(registry);
  registerExport(registry);
  registerDb(registry);
  registerVerify(registry);
  registerRepair(registry);
  registerQuarantine(registry);
  registerReplay(registry);
  registerSimulate(registry);
  inheritSettings(program);
  try {
    await program.parseAsync(args, { from: 'user' });
    return code;
  } catch (error) {
    if (error instanceof CommanderError)
      return error.exitCode === 0 ? exitCodes.done : exitCodes.wrongUse;
    // Whoever waited for something was told to stop, and had nothing under way.
    if (context.signal.aborted && error === context.signal.reason) return exitCodes.interrupted;
    if (error instanceof OutputClosedError) return exitCodes.done;
    return reportFailure(error, context, program.opts<GlobalOptions>());
  }
}

/** Groups of commands have commands of their own. */
function inheritSettings(parent: Command): void {
  for (const command of parent.commands) {
    command.copyInheritedSettings(parent);
    inheritSettings(command);
  }
}
