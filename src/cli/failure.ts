import type { CommanderError } from 'commander';
import { z } from 'zod';
import { DatabaseUnavailableError } from '../open-database.ts';
import { ConfigError } from '../config/error.ts';
import { EmbeddedPostgresError } from '../postgres/programs.ts';
import { codeOfFailure, describeDatabaseError, isOfDatabase } from '../db/failure.ts';
import { MigrationError } from '../db/migration-error.ts';
import { PoolerError } from '../db/route.ts';
import { StandbyError } from '../db/standby.ts';
import { ExportError } from '../export/export.ts';
import { ListenError } from '../http/server.ts';
import { OriginError } from '../sync/feeds.ts';
import { StatementError, StatementTimeoutError } from '../query/failure.ts';
import { ExplorerError } from '../explorer/error.ts';
import {
  type CommandLine,
  exits,
  UsageError,
  type Context,
  type ExitCode,
  type GlobalOptions,
} from './context.ts';
import { writeJson } from './print.ts';

/** For programs to branch on. */
export const errorKinds = [
  'usage',
  'configuration',
  'listen',
  'database-unavailable',
  'database',
  'embedded-postgres',
  'migration',
  'pooler',
  'standby',
  'statement',
  'statement-timeout',
  'export',
  'other-explorer',
  'explorer',
  'unexpected',
  'interrupted',
] as const;
type ErrorKind = (typeof errorKinds)[number];

/** The document of a `--json` command that failed before it wrote its own. */
export const errorDocument = z.strictObject({
  schema: z.literal('explorer-etl/error/1'),
  errors: z
    .array(
      z.strictObject({
        kind: z.enum(errorKinds),
        /** Class of a failed request, SQLSTATE, system or parser code; null: none. */
        code: z.string().nullable(),
        /** File and line, such as `explorer-etl.yaml:7`; null: no file. */
        where: z.string().nullable(),
        /** For people, without secrets; the text may change. */
        message: z.string(),
        hint: z.string().nullable(),
      }),
    )
    .min(1),
});

/** A failure's exit and messages. */
export type Failure = Pick<z.infer<typeof errorDocument>, 'errors'> & {
  readonly exit: typeof exits.failed | typeof exits.wrongUse | typeof exits.interrupted;
};

/** Error classes. Wrong use: the user can fix it first, and the message says how. */
const classes: readonly (readonly [
  of: new (...given: never[]) => Error,
  kind: ErrorKind,
  exit: Failure['exit'],
])[] = [
  [UsageError, 'usage', exits.wrongUse],
  [ListenError, 'listen', exits.wrongUse],
  [DatabaseUnavailableError, 'database-unavailable', exits.wrongUse],
  [StatementError, 'statement', exits.wrongUse],
  [StatementTimeoutError, 'statement-timeout', exits.failed],
  [ExportError, 'export', exits.wrongUse],
  [EmbeddedPostgresError, 'embedded-postgres', exits.wrongUse],
  [MigrationError, 'migration', exits.wrongUse],
  [PoolerError, 'pooler', exits.wrongUse],
  [StandbyError, 'standby', exits.wrongUse],
  [OriginError, 'other-explorer', exits.wrongUse],
  [ExplorerError, 'explorer', exits.failed],
];

/** An error or problem with a bare command to try. */
interface Hinting {
  readonly command?: string | null;
}

interface FailureOptions extends Pick<GlobalOptions, 'databaseUrl'> {
  /** Formats the hint's command; absent: it stays bare. */
  readonly commandLine?: CommandLine;
}

/** An error's messages, without a stack, and its exit: 2 if the user can fix it first, otherwise 1. */
export function failureOf(
  error: unknown,
  { databaseUrl, commandLine = (command) => command }: FailureOptions,
): Failure {
  const hintOf = ({ command = null }: Hinting) =>
    command === null ? null : `Try: ${commandLine(command)}`;
  if (error instanceof ConfigError) {
    const errors = error.problems.map((problem) => {
      const { where, message } = problem;
      return { ...one('configuration', message), where, hint: hintOf(problem) };
    });
    return { exit: exits.wrongUse, errors };
  }
  const code = error instanceof ExplorerError ? error.failure : codeOfFailure(error);
  const [, kind, exit] = classes.find(([of]) => error instanceof of) ?? [];
  if (kind === undefined || exit === undefined || !(error instanceof Error)) {
    const unknown = isOfDatabase(error) ? 'database' : 'unexpected';
    return { exit: exits.failed, errors: [one(unknown, describeDatabaseError(error), code)] };
  }
  // The flag takes precedence over the environment.
  const source = databaseUrl === undefined ? 'DATABASE_URL' : '--database-url';
  const hint =
    kind === 'database-unavailable' ? `Check ${source}.` : hintOf(error as Error & Hinting);
  return { exit, errors: [{ ...one(kind, error.message, code), hint }] };
}

const one = (kind: ErrorKind, message: string, code: string | null = null) => ({
  kind,
  code,
  where: null,
  message,
  hint: null as string | null,
});

/** Flags and arguments that the parser refused and has already reported on stderr. */
export function wrongFlags({ code, message }: CommanderError, commandLine: CommandLine): Failure {
  if (code === 'commander.help') {
    const hint = `Try: ${commandLine('explorer-etl help')}`;
    return {
      exit: exits.wrongUse,
      errors: [{ ...one('usage', 'no command is given.', 'help'), hint }],
    };
  }
  const [what = '', suggestion] = message.replace(/^error: /u, '').split('\n');
  const hint = suggestion?.replaceAll(/^\(|\)$/gu, '') ?? null;
  const error = { ...one('usage', what, code.replace('commander.', '')), hint };
  return { exit: exits.wrongUse, errors: [error] };
}

/** A signal came while no work was active. */
export const interruption: Failure = {
  exit: exits.interrupted,
  errors: [one('interrupted', 'A signal ended the command.')],
};

/** Prints errors on stderr. */
export function printFailure({ stderr }: Pick<Context, 'stderr'>, { errors }: Failure): void {
  for (const { where, message, hint } of errors) {
    const place = where === null ? 'explorer-etl: ' : `explorer-etl: ${where}: `;
    stderr(`${place}${message}${hint === null ? '' : ` ${hint}`}\n`);
  }
}

/** Writes the document of a failure, for a command that wrote none. */
export const writeFailure = (
  context: Pick<Context, 'stdout'>,
  { exit, errors }: Failure,
): ExitCode => writeJson(context, errorDocument, { errors }, exit);
