import { DatabaseUnavailableError } from '../open-database.ts';
import { ConfigError } from '../config/error.ts';
import { EmbeddedPostgresError } from '../embedded-postgres/failure.ts';
import { describeDatabaseError } from '../db/failure.ts';
import { ScratchError } from '../replay/scratch.ts';
import { MigrationError } from '../db/migrate.ts';
import { PoolerError } from '../db/route.ts';
import { StandbyError } from '../db/standby.ts';
import { ExportError } from '../export/failure.ts';
import { OriginError } from '../feeds/origin.ts';
import { StatementError, StatementTimeoutError } from '../query/failure.ts';
import { IncompleteArchiveError } from '../replay/replay.ts';
import { ExplorerError } from '../explorer/error.ts';
import {
  exitCodes,
  UsageError,
  type Context,
  type ExitCode,
  type GlobalOptions,
} from './context.ts';
import { tell } from './print.ts';

/**
 * Tells a failure in one message, never with a stack, and says how the program ends: 2 where the
 * user can mend it before starting again, 1 where something failed on the way.
 */
export function reportFailure(
  error: unknown,
  context: Context,
  { databaseUrl }: Pick<GlobalOptions, 'databaseUrl'>,
): ExitCode {
  const say = (message: string) => tell(context, `explorer-etl: ${message}\n`);
  if (error instanceof ConfigError) {
    for (const { where, message } of error.problems) {
      say(where === null ? message : `${where}: ${message}`);
    }
    return exitCodes.wrongUse;
  }
  if (error instanceof DatabaseUnavailableError) {
    // Where the URL came from: the flag goes before the environment.
    say(`${error.message} Check ${databaseUrl === undefined ? 'DATABASE_URL' : '--database-url'}.`);
    return exitCodes.wrongUse;
  }
  if (
    error instanceof UsageError ||
    error instanceof StatementError ||
    error instanceof ExportError ||
    error instanceof EmbeddedPostgresError ||
    error instanceof MigrationError ||
    error instanceof PoolerError ||
    error instanceof StandbyError ||
    error instanceof ScratchError ||
    error instanceof IncompleteArchiveError ||
    error instanceof OriginError
  ) {
    say(error.message);
    return exitCodes.wrongUse;
  }
  if (error instanceof ExplorerError || error instanceof StatementTimeoutError) {
    say(error.message);
    return exitCodes.failed;
  }
  say(describeDatabaseError(error));
  return exitCodes.failed;
}
