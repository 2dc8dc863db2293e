import type { CommanderError } from 'commander';
import { z } from 'zod';
import { DatabaseUnavailableError } from '../open-database.ts';
import { ConfigError } from '../config/error.ts';
import { EmbeddedPostgresError } from '../postgres/failure.ts';
import { codeOfFailure, describeDatabaseError, isOfDatabase } from '../db/failure.ts';
import { MigrationError } from '../db/migration-error.ts';
import { PoolerError } from '../db/route.ts';
import { StandbyError } from '../db/standby.ts';
import { ExportError } from '../export/failure.ts';
import { ListenError } from '../http/server.ts';
import { OriginError } from '../sync/feeds.ts';
import { StatementError, StatementTimeoutError } from '../query/failure.ts';
import { ExplorerError } from '../explorer/error.ts';
import type { CommandLine } from './command-line.ts';
import { exits, UsageError, type Context, type ExitCode, type GlobalOptions } from './context.ts';
import { writeJson } from './print.ts';

/** What kind of thing failed, for a program to decide by. */
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

/** Any command with `--json` that could not write its own document. */
export const errorDocument = z.strictObject({
  schema: z.literal('explorer-etl/error/1'),
  errors: z
    .array(
      z.strictObject({
        kind: z.enum(errorKinds),
        /** The class of a failed request, an SQLSTATE or system code, the parser's code; null: none. */
        code: z.string().nullable(),
        /** File and line, such as `explorer-etl.yaml:7`; null: no place in a file. */
        where: z.string().nullable(),
        /** For people, without any secret; its words may change. */
        message: z.string(),
        /** What to look at or to type instead. */
        hint: z.string().nullable(),
      }),
    )
    .min(1),
});

/** What a failure means for the program's end, and what there is to fix. */
export type Failure = Pick<z.infer<typeof errorDocument>, 'errors'> & {
  readonly exit: typeof exits.failed | typeof exits.wrongUse | typeof exits.interrupted;
};

/** What the user can fix before starting again: the message says how. */
const fixable: readonly (readonly [kind: ErrorKind, of: new (message: string) => Error])[] = [
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

interface FailureOptions extends Pick<GlobalOptions, 'databaseUrl'> {
  /** How a command that a hint names is typed; bare if absent. */
  readonly commandLine?: CommandLine;
}

/** A failure in words, never with a stack: 2 where the user can fix it before starting again, else 1. */
export function failureOf(
  error: unknown,
  { databaseUrl, commandLine = (command) => command }: FailureOptions,
): Failure {
  if (error instanceof ConfigError) {
    const errors = error.problems.map(({ where, message, command }) => ({
      ...one('configuration', message),
      where,
      hint: command === undefined ? null : hintOf(commandLine(command)),
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
  const [kind] = fixable.find(([, of]) => error instanceof of) ?? [];
  if (kind !== undefined) {
    const { message, command = null } = error as Error & { readonly command?: string | null };
    const hint = command === null ? null : hintOf(commandLine(command));
    return { exit: exits.wrongUse, errors: [{ ...one(kind, message, code), hint }] };
  }
  if (error instanceof ExplorerError) {
    return { exit: exits.failed, errors: [one('explorer', error.message, error.failure)] };
  }
  if (error instanceof StatementTimeoutError) {
    return { exit: exits.failed, errors: [one('statement-timeout', error.message, code)] };
  }
  const message = describeDatabaseError(error);
  return {
    exit: exits.failed,
    errors: [one(isOfDatabase(error) ? 'database' : 'unexpected', message, code)],
  };
}

const hintOf = (command: string) => `Try: ${command}`;

const one = (kind: ErrorKind, message: string, code: string | null = null) => ({
  kind,
  code,
  where: null,
  message,
  hint: null,
});

/** Flags and arguments that the parser refused; it has said so on stderr already. */
export function wrongFlags({ code, message }: CommanderError, commandLine: CommandLine): Failure {
  const [what = '', hint] = message.replace(/^error: /u, '').split('\n');
  const isHelp = code === 'commander.help';
  const error = isHelp
    ? {
        ...one('usage', 'no command is given.', 'help'),
        hint: hintOf(commandLine('explorer-etl help')),
      }
    : {
        ...one('usage', what, code.replace('commander.', '')),
        hint: hint?.replaceAll(/^\(|\)$/gu, '') ?? null,
      };
  return { exit: exits.wrongUse, errors: [error] };
}

/** A signal ended it while nothing was half done. */
export const interruption: Failure = {
  exit: exits.interrupted,
  errors: [one('interrupted', 'A signal ended the command.')],
};

/** Says on stderr what failed, in a line each or as many as the message has. */
export function tellFailure({ stderr }: Pick<Context, 'stderr'>, { errors }: Failure): void {
  for (const { where, message, hint } of errors) {
    const place = where === null ? 'explorer-etl: ' : `explorer-etl: ${where}: `;
    stderr(`${place}${message}${hint === null ? '' : ` ${hint}`}\n`);
  }
}

/** The document of a failure, for a command that wrote none of its own. */
export const writeFailure = (
  context: Pick<Context, 'stdout'>,
  { exit, errors }: Failure,
): ExitCode => writeJson(context, errorDocument, { errors }, exit);
