import { extname } from 'node:path';
import type { Command } from 'commander';
import type { z } from 'zod';
import type { Waiting } from '../db/lock.ts';
import { errorOf } from '../failure.ts';
import type { LogFormat, LogLevel } from '../log.ts';
import type { Look } from '../terminal/layout.ts';

/** The environment of the program; tests pass their own. */
export interface World {
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  /** Aborts at the first SIGINT or SIGTERM. */
  readonly signal: AbortSignal;
  readonly stdout: (text: string) => void;
  /** Resolves once stdout takes more text, and rejects at a signal; absent: at once. */
  readonly drained?: (signal: AbortSignal) => Promise<void>;
  readonly stderr: (text: string) => void;
  /** Has warnings of Node and of packages reported to `listener`, no longer on stderr; absent in tests. */
  readonly onWarning?: (listener: (warning: Error) => void) => void;
  /** Leaves Ctrl-C to the program that has the terminal; absent without one. */
  readonly yieldTerminal?: () => void;
  readonly out: Look;
  readonly err: Look;
  /** What a user types before a command's name, such as `npx explorer-etl`. */
  readonly program: string;
}

/** How a command ended: its exit code, and the reason in its document. docs/operating.md lists them. */
export const exits = {
  done: { code: 0, reason: 'done' },
  /** No failure, but something is incomplete. */
  open: { code: 1, reason: 'open' },
  failed: { code: 1, reason: 'failed' },
  wrongUse: { code: 2, reason: 'wrong-use' },
  interrupted: { code: 130, reason: 'interrupted' },
} as const;
export type Exit = (typeof exits)[keyof typeof exits];

export interface GlobalOptions {
  readonly config?: string | null;
  readonly databaseUrl?: string;
  readonly logLevel: LogLevel;
  /** Absent: pretty on a terminal, otherwise JSON lines. */
  readonly logFormat?: LogFormat;
  readonly json: boolean;
  readonly quiet: boolean;
}

/** The environment of a command, and its global flags. */
export interface Context extends World, GlobalOptions {
  /** Whether it reads the demo's database in the embedded Postgres. */
  readonly demo: boolean;
  /** Formats a bare command, such as `explorer-etl verify`, as the user has to type it here. */
  readonly commandLine: CommandLine;
  /** What to do while another process has a lock: report it, and end at a signal. */
  readonly waiting: Waiting;
  /** Writes a line on stderr. */
  readonly warn: (line: string) => void;
  /** Writes a line of progress on stderr; not with `--quiet`. */
  readonly note: (line: string) => void;
  /** Resolves at the first signal. */
  readonly untilStopped: () => Promise<void>;
  /** Prints the command's answer as a document or as text. @returns its exit */
  readonly print: <Schema extends DocumentSchema>(
    schema: Schema,
    fields: Fields<Schema>,
    text: string,
    exit?: Exit,
  ) => Exit;
}

/** A command's document without `exit`. A breaking change increases its version. */
type DocumentSchema = z.ZodObject<{ readonly schema: z.ZodLiteral<string> }>;

type Fields<Schema extends DocumentSchema> = Omit<z.infer<Schema>, 'schema'>;

/** Writes the document of `--json`: one, and nothing else on stdout. */
export function writeJson<Schema extends DocumentSchema>(
  { stdout }: Pick<World, 'stdout'>,
  { shape }: Schema,
  fields: Fields<Schema>,
  exit: Exit = exits.done,
): Exit {
  const document = { schema: shape.schema.value, exit, ...fields };
  stdout(`${JSON.stringify(document, null, 2)}\n`);
  return exit;
}

/** A mistake in the command line: exit code 2. The message says what to do. */
export class UsageError extends errorOf('usage') {}

/** A command's work. */
export type Action<Options, Arguments extends unknown[] = []> = (
  context: Context,
  options: Options,
  ...given: Arguments
) => Promise<Exit>;

/** Passed to a command to register itself. */
export interface Registry {
  readonly command: Command;
  readonly run: <Options, Arguments extends unknown[] = []>(
    action: Action<Options, Arguments>,
  ) => (...given: [...Arguments, Options, Command]) => Promise<void>;
  /**
   * Adds examples to the help of the command, or of one of its own, below `notes`, as the user has to type them; `&&`
   * joins bare commands in a line.
   */
  readonly explain: (examples: readonly string[], notes?: string, of?: Command) => void;
}

/** The program's name in documents and errors: `explorer-etl sync`. */
const bareProgram = 'explorer-etl';

/** A clone runs the sources, and only `npx` finds the program there. */
const isClone = extname(import.meta.filename) === '.ts';

/**
 * What a user types before a command's name. npm names its own command to the programs that it starts
 * (https://docs.npmjs.com/cli/v11/using-npm/scripts#environment).
 */
export const programPrefix = ({ npm_command }: NodeJS.ProcessEnv, isSource = isClone): string =>
  isSource || npm_command !== undefined ? `npx ${bareProgram}` : bareProgram;

/** Bare commands that take `--demo`, and have none yet. */
const takesDemo =
  /^explorer-etl (?:status|verify|plan|check|open|query|export|mcp|db shell|db url|feeds (?:list|pause|resume|run))\b(?!.* --demo\b)/u;
/** Commands that need the explorer; the demo's runs only during the demo. */
const needsExplorer = /^explorer-etl (?:sync|backfill|repair|start)\b/u;

/** Adds `--demo` to a command, and to those of its own, if they take it. */
export function addDemo(command: Command, path = `${bareProgram} ${command.name()}`): void {
  if (takesDemo.test(path)) command.option('--demo', "the demo's database");
  for (const own of command.commands) addDemo(own, `${path} ${own.name()}`);
}

export type CommandLine = (command: string) => string;

/** Adds the program's prefix and `--demo` to bare commands. */
export const commandLineOf =
  ({ program, demo }: Pick<World, 'program'> & { readonly demo: boolean }): CommandLine =>
  (command) => {
    if (demo && needsExplorer.test(command)) return `${program} demo`;
    const line = command.replace(bareProgram, program);
    return demo && takesDemo.test(command) ? `${line} --demo` : line;
  };
