import type { CommanderError } from 'commander';
import { ConfigError } from '../config/error.ts';
import { codeOfFailure, describeDatabaseError, isOfDatabase } from '../db/failure.ts';
import { MigrationError } from '../db/migration-error.ts';
import { PoolerError } from '../db/route.ts';
import { StandbyError } from '../db/standby.ts';
import type { ErrorDocument, ErrorKind } from '../documents/error.ts';
import { ExplorerError } from '../explorer/error.ts';
import { ExportError } from '../export/failure.ts';
import { ListenError } from '../http/server.ts';
import { DatabaseUnavailableError } from '../open-database.ts';
import { EmbeddedPostgresError } from '../postgres/failure.ts';
import { StatementError, StatementTimeoutError } from '../query/failure.ts';
import { OriginError } from '../sync/feeds.ts';
import { asCalled } from './called.ts';
import {
  type Context,
  type ExitCode,
  type GlobalOptions,
  UsageError,
  writeDocument,
} from './context.ts';
import { exits } from './exits.ts';
import { tell } from './print.ts';

/** What a failure means for the program's end, and what there is to mend. */
export type Failure = Pick<ErrorDocument, 'errors'> & {
  readonly exit: typeof exits.failed | typeof exits.wrongUse | typeof exits.interrupted;
};

/** What the user can mend before starting again: the message says how. */
const mendable: readonly (readonly [kind: ErrorKind, of: new (message: string) => Error])[] = [
  ['usage', UsageError],
  ['listen', ListenError],
  ['statement', StatementError],
  ['export', ExportError],
  ['embedded-postgres', EmbeddedPostgresError],
  ['migration', MigrationError],
  ['pooler', PoolerError],
  ['standby', StandbyError],
  ['other-explorer', OriginError],
];

/** A failure in words, never with a stack: 2 where the user can mend it before starting again, else 1. */
export function failureOf(
  error: unknown,
  { databaseUrl }: Pick<GlobalOptions, 'databaseUrl'>,
): Failure {
  if (error instanceof ConfigError) {
    const errors = error.problems.map(({ where, message }) => ({
      ...one('configuration', message),
      where,
    }));
    return { exit: exits.wrongUse, errors };
  }
  const code = codeOfFailure(error);
  if (error instanceof DatabaseUnavailableError) {
    // Where the URL came from: the flag goes before the environment.
    const hint = `Check ${databaseUrl === undefined ? 'DATABASE_URL' : '--database-url'}.`;
    const errors = [{ ...one('database-unavailable', error.message, code), hint }];
    return { exit: exits.wrongUse, errors };
  }
  const [kind] = mendable.find(([, of]) => error instanceof of) ?? [];
  if (kind !== undefined) {
    return { exit: exits.wrongUse, errors: [one(kind, (error as Error).message, code)] };
  }
  if (error instanceof ExplorerError) {
    return { exit: exits.failed, errors: [one('explorer', error.message, error.failure)] };
  }
  if (error instanceof StatementTimeoutError) {
    return { exit: exits.failed, errors: [one('statement-timeout', error.message, code)] };
  }
  const told = describeDatabaseError(error);
  return {
    exit: exits.failed,
    errors: [one(isOfDatabase(error) ? 'database' : 'unexpected', told, code)],
  };
}

const one = (kind: ErrorKind, message: string, code: string | null = null) => ({
  kind,
  code,
  where: null,
  message,
  hint: null,
});

/** Flags and arguments that the parser refused; it has told so on stderr already. */
export function wrongFlags({ code, message }: CommanderError): Failure {
  const [what = '', hint] = message.replace(/^error: /u, '').split('\n');
  const told =
    code === 'commander.help'
      ? {
          ...one('usage', 'no command is given.', 'help'),
          hint: 'explorer-etl help lists the commands.',
        }
      : {
          ...one('usage', what, code.replace('commander.', '')),
          hint: hint?.replaceAll(/^\(|\)$/gu, '') ?? null,
        };
  return { exit: exits.wrongUse, errors: [told] };
}

/** A signal ended it where nothing was half done. */
export const interruption: Failure = {
  exit: exits.interrupted,
  errors: [one('interrupted', 'A signal ended the command.')],
};

/** Says on stderr what failed, in a line each or as many as the message has. */
export function tellFailure(context: Context, { errors }: Failure): void {
  for (const { where, message, hint } of errors) {
    const place = where === null ? 'explorer-etl: ' : `explorer-etl: ${where}: `;
    tell(context, `${place}${message}${hint === null ? '' : ` ${hint}`}\n`);
  }
}

/** The document of a failure, for a command that wrote none of its own. */
export function writeFailure(context: Context, { exit, errors }: Failure): ExitCode {
  const called = (text: string) => asCalled(text, context.program);
  writeDocument(context, {
    schema: 'explorer-etl/error/1',
    exit,
    errors: errors.map(({ message, hint, ...rest }) => ({
      ...rest,
      message: called(message),
      hint: hint === null ? null : called(hint),
    })),
  });
  return exit.code;
}
