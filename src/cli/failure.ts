import { getSystemErrorMessage } from 'node:util';
import type { CommanderError } from 'commander';
import { z } from 'zod';
import {
  codeOfFailure,
  databaseClassOf,
  describeDatabaseError,
  isOfDatabase,
  rootOf,
} from '../db/failure.ts';
import { ExplorerError } from '../explorer/error.ts';
import { failures, KnownError, knownKinds } from '../failure.ts';
import {
  exits,
  type CommandLine,
  type Context,
  type World,
  type Exit,
  writeJson,
} from './context.ts';

export const errorKinds = [
  ...knownKinds,
  'database',
  'explorer',
  'unexpected',
  'interrupted',
] as const;
type ErrorKind = (typeof errorKinds)[number];

/** Wrong use: the user can fix it first, and the message says how. */
function exitOf(kind: ErrorKind): Exit {
  if (kind === 'interrupted') return exits.interrupted;
  const isFailed = ['statement-timeout', 'database', 'explorer', 'unexpected'].includes(kind);
  return isFailed ? exits.failed : exits.wrongUse;
}

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
  readonly exit: Exit;
  readonly errors: Message[];
}

type GivenMessage = Pick<Message, 'message'> & Partial<Message>;

const failureOfKind = (kind: ErrorKind, ...given: GivenMessage[]): Failure => ({
  exit: exitOf(kind),
  errors: given.map((own) => ({ kind, code: null, where: null, hint: null, ...own })),
});

/** An error's messages, without a stack, and its exit: 2 if the user can fix it first, otherwise 1. */
export function failureOf(
  error: unknown,
  { databaseUrl, commandLine }: Pick<Context, 'databaseUrl' | 'commandLine'>,
): Failure {
  const code = codeOfFailure(error);
  const { hint: advice = null, ...exit } = databaseFailure(error);
  if (error instanceof KnownError) {
    const { kind, problems } = error;
    // The flag takes precedence over the environment.
    const source = databaseUrl === undefined ? 'DATABASE_URL' : '--database-url';
    const check = advice ?? `Check ${source}, and the log and disk of its server.`;
    const usual = kind === 'database-unavailable' ? check : null;
    const messages = problems.map(({ where, message, command }) => {
      const hint = command === undefined ? usual : `Try: ${commandLine(command)}`;
      return { code, where, message, hint };
    });
    return { ...failureOfKind(kind, ...messages), ...exit };
  }
  if (error instanceof ExplorerError) {
    return failureOfKind('explorer', { code: error.failure, message: error.message });
  }
  const { path, errno } = Object(rootOf(error)) as Partial<NodeJS.ErrnoException>;
  if (path !== undefined && errno !== undefined) {
    return failureOfKind('usage', { code, message: `${path}: ${getSystemErrorMessage(errno)}.` });
  }
  const kind = isOfDatabase(error) ? 'database' : 'unexpected';
  const message = `${describeDatabaseError(error)}.`;
  const lost = failures['database-unreachable'].advice;
  const hint = databaseClassOf(error) === 'database-unreachable' ? lost : advice;
  return { ...failureOfKind(kind, { code, message, hint }), ...exit };
}

/** Exit and advice of a fault of the database that has a class of its own. */
function databaseFailure(error: unknown): { readonly exit?: Exit; readonly hint?: string } {
  const failure = databaseClassOf(error);
  if (failure === null || failure === 'database-unreachable' || failure === 'not-stored') return {};
  const { exit, advice: hint } = failures[failure];
  return { exit: exit === 2 ? exits.wrongUse : exits.failed, hint };
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

/** The text on stderr for each error. Lines below the first are indented: none looks like one of ours. */
export const linesOf = ({ errors }: Failure): string[] =>
  errors.map(({ where, message, hint }) => {
    const what = hint === null ? message : `${message} ${hint}`;
    const text = where === null ? what : `${where}: ${what}`;
    return text.replaceAll('\n', '\n  ');
  });

/** Writes the document of a failure, for a command that wrote none. */
export const writeFailure = (context: Pick<World, 'stdout'>, { exit, errors }: Failure): Exit =>
  writeJson(context, errorDocument, { errors }, exit);
