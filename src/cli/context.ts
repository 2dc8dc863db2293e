import type { Command } from 'commander';
import type { Waiting } from '../db/lock.ts';
import type { LogFormat, LogLevel } from '../log-levels.ts';
import type { Look } from '../terminal/look.ts';

/** What a command has of the world around it; tests give their own. */
export interface Context {
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  /** Aborts at the first SIGINT or SIGTERM. */
  readonly signal: AbortSignal;
  readonly stdout: (text: string) => void;
  /**
   * Resolves once all that was written to stdout is taken, so that no more than that waits in memory; absent
   * if it is taken at once. Rejects with OutputClosedError once the reader is gone.
   */
  readonly drained?: () => Promise<void>;
  readonly stderr: (text: string) => void;
  /** Calls the listener at every SIGHUP from now on; absent if none can come. */
  readonly onReload?: (listener: () => void) => void;
  /** Leaves a Ctrl-C to a program that has the terminal from now on; absent where there is none. */
  readonly yieldTerminal?: () => void;
  /** What stdout and stderr are drawn on. */
  readonly out: Look;
  readonly err: Look;
  /** It is the demo's database that is looked at: commands that are named say so. */
  readonly isDemo?: true;
  /** What a user types before a command's name, such as `npx explorer-etl`. */
  readonly program: string;
}

/** Who read stdout has had enough, such as `head`. */
export class OutputClosedError extends Error {
  override readonly name = 'OutputClosedError';
}

/** Exit codes of every command; `help` and docs/operating.md list them. */
export const exitCodes = { done: 0, failed: 1, wrongUse: 2, interrupted: 130 } as const;
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** How a command ended, as its document states it. */
export const exits = {
  done: { code: exitCodes.done, reason: 'done' },
  /** Nothing went wrong, and something is not complete. */
  open: { code: exitCodes.failed, reason: 'open' },
  failed: { code: exitCodes.failed, reason: 'failed' },
  wrongUse: { code: exitCodes.wrongUse, reason: 'wrong-use' },
  interrupted: { code: exitCodes.interrupted, reason: 'interrupted' },
} as const;
export type Exit = (typeof exits)[keyof typeof exits];

/** The options that every command has. */
export interface GlobalOptions {
  readonly config?: string;
  readonly databaseUrl?: string;
  readonly logLevel: LogLevel;
  /** Absent: pretty on a terminal, JSON lines elsewhere. */
  readonly logFormat?: LogFormat;
  readonly json: boolean;
  readonly quiet: boolean;
}

/** A mistake in how the program was called: what is wrong and what to do, exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
  /** The bare command to try, such as `explorer-etl query --list`. */
  readonly command: string | null;

  constructor(message: string, command: string | null = null) {
    super(message);
    this.command = command;
  }
}

/** A command's work, also given its arguments; what it returns is the exit code. */
export type Action<Options, Arguments extends unknown[] = []> = (
  context: Context,
  options: Options & GlobalOptions,
  ...given: Arguments
) => Promise<ExitCode>;

/** What a command is given to describe itself, and how its exit code gets out. */
export interface Registry {
  /** The command, with its name and description. */
  readonly command: Command;
  readonly run: <Options, Arguments extends unknown[] = []>(
    action: Action<Options, Arguments>,
  ) => (...given: [...Arguments, Options, Command]) => Promise<void>;
}

/** Gives a command its options, its help and its work. */
export type Register = (registry: Registry) => void;

/** Reports on stderr who holds a lock; a signal ends the wait. */
export const waitingOf = ({ signal, stderr }: Context): Waiting => ({
  signal,
  tell: (line) => stderr(`${line}\n`),
});
