import type { CommanderError } from 'commander';
import { z } from 'zod';
import { DatabaseUnavailableError } from '../open-database.ts';
import { ConfigError } from '../config/error.ts';
import { EmbeddedPostgresError } from '../postgres/programs.ts';
import {
  codeOfFailure,
  describeDatabaseError,
  isOfDatabase,
  MigrationError,
} from '../db/failure.ts';
import { PoolerError } from '../db/route.ts';
import { StandbyError } from '../db/state.ts';
import { ExportError } from '../export/export.ts';
import { ListenError } from '../http/server.ts';
import { OriginError } from '../sync/feeds.ts';
import { StatementError, StatementTimeoutError } from '../query/failure.ts';
import { ExplorerError } from '../explorer/error.ts';
import {
  exits,
  UsageError,
  type CommandLine,
  type Context,
  type World,
  type Exit,
} from './context.ts';
import { writeJson } from './print.ts';

type ErrorClass = new (...given: never[]) => Error;

/**
 * For programs to branch on: each kind's class, and its exit. Wrong use: the user can fix it first, and the message
 * says how.
 */
const kinds = {
  usage: [UsageError, exits.wrongUse],
  configuration: [ConfigError, exits.wrongUse],
  listen: [ListenError, exits.wrongUse],
  'database-unavailable': [DatabaseUnavailableError, exits.wrongUse],
  database: [null, exits.failed],
  'embedded-postgres': [EmbeddedPostgresError, exits.wrongUse],
  migration: [MigrationError, exits.wrongUse],
  pooler: [PoolerError, exits.wrongUse],
  standby: [StandbyError, exits.wrongUse],
  statement: [StatementError, exits.wrongUse],
  'statement-timeout': [StatementTimeoutError, exits.failed],
  export: [ExportError, exits.wrongUse],
  'other-explorer': [OriginError, exits.wrongUse],
  explorer: [ExplorerError, exits.failed],
  unexpected: [null, exits.failed],
  interrupted: [null, exits.interrupted],
} as const satisfies Readonly<Record<string, readonly [ErrorClass | null, Exit]>>;

type ErrorKind = keyof typeof kinds;
export const errorKinds = Object.keys(kinds) as ErrorKind[];

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

type Message = z.infer<typeof errorDocument>['errors'][number];

/** A failure's exit and messages. */
export interface Failure {
  readonly exit: (typeof kinds)[ErrorKind][1];
  readonly errors: Message[];
}

const failureOfKind = (kind: ErrorKind, ...messages: Partial<Message>[]): Failure => ({
  exit: kinds[kind][1],
  errors: messages.map((own) => ({
    kind,
    code: null,
    where: null,
    message: '',
    hint: null,
    ...own,
  })),
});

/** An error's messages, without a stack, and its exit: 2 if the user can fix it first, otherwise 1. */
export function failureOf(
  error: unknown,
  { databaseUrl, commandLine }: Pick<Context, 'databaseUrl' | 'commandLine'>,
): Failure {
  const hintOf = (hinting: object) =>
    'command' in hinting && typeof hinting.command === 'string'
      ? `Try: ${commandLine(hinting.command)}`
      : null;
  if (error instanceof ConfigError) {
    const problems = error.problems.map((problem) => {
      const { where, message } = problem;
      return { where, message, hint: hintOf(problem) };
    });
    return failureOfKind('configuration', ...problems);
  }
  const code = error instanceof ExplorerError ? error.failure : codeOfFailure(error);
  const kind = errorKinds.find((name) => {
    const [of] = kinds[name];
    return of !== null && error instanceof of;
  });
  if (kind === undefined || !(error instanceof Error)) {
    const unknown = isOfDatabase(error) ? 'database' : 'unexpected';
    return failureOfKind(unknown, { code, message: describeDatabaseError(error) });
  }
  // The flag takes precedence over the environment.
  const source = databaseUrl === undefined ? 'DATABASE_URL' : '--database-url';
  const hint = kind === 'database-unavailable' ? `Check ${source}.` : hintOf(error);
  return failureOfKind(kind, { code, message: error.message, hint });
}

/** Flags and arguments that the parser refused and has already reported on stderr. */
export function wrongFlags({ code, message }: CommanderError, commandLine: CommandLine): Failure {
  if (code === 'commander.help') {
    const hint = `Try: ${commandLine('explorer-etl help')}`;
    return failureOfKind('usage', { code: 'help', message: 'no command is given.', hint });
  }
  const [what = '', suggestion] = message.replace(/^error: /u, '').split('\n');
  const hint = suggestion?.replaceAll(/^\(|\)$/gu, '') ?? null;
  return failureOfKind('usage', { code: code.replace('commander.', ''), message: what, hint });
}

/** A signal came while no work was active. */
export const interruption = failureOfKind('interrupted', {
  message: 'A signal ended the command.',
});

/** Prints errors on stderr. */
export function printFailure({ stderr }: Pick<World, 'stderr'>, { errors }: Failure): void {
  for (const { where, message, hint } of errors) {
    const place = where === null ? 'explorer-etl: ' : `explorer-etl: ${where}: `;
    stderr(`${place}${message}${hint === null ? '' : ` ${hint}`}\n`);
  }
}

/** Writes the document of a failure, for a command that wrote none. */
export const writeFailure = (context: Pick<World, 'stdout'>, { exit, errors }: Failure): Exit =>
  writeJson(context, errorDocument, { errors }, exit);
