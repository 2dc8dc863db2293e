import type { Command } from 'commander';
import { loadSettings, type SettingsInput } from '../config/load.ts';
import type { Settings } from '../config/settings.ts';
import type { Waiting } from '../db/lock.ts';
import { createLog, type Log, type LogLevel } from '../log.ts';
import { printableLines } from '../printable.ts';

/** What a command has of the world around it; tests give their own. */
export interface Context {
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  /** Aborts at the first SIGINT or SIGTERM. */
  readonly signal: AbortSignal;
  readonly stdout: (text: string) => void;
  /**
   * Resolves once all that was given to stdout is taken, so that no more than that waits in memory; absent
   * where it is taken at once. Rejects with OutputClosedError where nobody reads it any more.
   */
  readonly drained?: () => Promise<void>;
  readonly stderr: (text: string) => void;
  /** Calls the listener at every SIGHUP from now on; absent where nobody sends one. */
  readonly onReload?: (listener: () => void) => void;
  /** Leaves a Ctrl-C to a program that has the terminal from now on; absent where there is none. */
  readonly yieldTerminal?: () => void;
  /** Whether stderr is a terminal that lines can be redrawn on. */
  readonly isTerminal: boolean;
  /** Characters in a line of the terminal that stdout is; absent where it is none. */
  readonly columns?: number;
}

/** Who read stdout has had enough, such as `head`. */
export class OutputClosedError extends Error {
  override readonly name = 'OutputClosedError';
}

/** Exit codes of design section 8. */
export const exitCodes = { done: 0, failed: 1, wrongUse: 2, interrupted: 130 } as const;
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** The options that every command has. */
export interface GlobalOptions {
  readonly config?: string;
  readonly databaseUrl?: string;
  readonly logLevel: LogLevel;
  readonly json: boolean;
  readonly quiet: boolean;
}

/** A mistake in how the program was called: what is wrong and what to do, exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** A command's work; what it returns is the exit code. */
export type Action<Options> = (
  context: Context,
  options: Options & GlobalOptions,
) => Promise<ExitCode>;

/** Where `register` puts commands, and how their exit code gets out. */
export interface Registry {
  readonly program: Command;
  readonly run: <Options>(
    action: Action<Options>,
  ) => (options: Options, command: Command) => Promise<void>;
}

/** Others who hold a lock are told on stderr; a signal ends the wait. */
export const waitingOf = ({ signal, stderr }: Context): Waiting => ({
  signal,
  tell: (line) => stderr(`${line}\n`),
});

export const logOf = (context: Context, { logLevel }: GlobalOptions): Log =>
  createLog(logLevel, context.stderr);

/** The settings for a command, its global flags and its selection applied. */
export function settingsOf(
  context: Context,
  options: GlobalOptions & {
    readonly chain?: readonly string[];
    readonly operation?: readonly string[];
  },
  need: NonNullable<SettingsInput['need']> = 'chains',
): Settings {
  return loadSettings({
    env: context.env,
    cwd: context.cwd,
    need,
    ...(options.config !== undefined && { configFile: options.config }),
    ...(options.databaseUrl !== undefined && { databaseUrl: options.databaseUrl }),
    ...(options.chain !== undefined && { chains: options.chain }),
    ...(options.operation !== undefined && { operations: options.operation }),
  });
}

export const writeJson = (context: Context, document: unknown) =>
  context.stdout(`${printableLines(JSON.stringify(document, null, 2))}\n`);
