import { loadSettings, type SettingsInput } from '../config/load.ts';
import type { Settings } from '../config/settings.ts';
import type { LogFormat } from '../log-levels.ts';
import { createLog, type Log } from '../log.ts';
import type { Context, GlobalOptions } from './context.ts';

/** A command's log, in the format of its options and of stderr. */
export function logOf(
  context: Context,
  options: Pick<GlobalOptions, 'logLevel' | 'logFormat'>,
  write: (line: string) => void = context.stderr,
): Log {
  const format = formatOf(context, options);
  const { isColoured } = context.err;
  return createLog(options.logLevel, write, { format, isColoured, now: () => performance.now() });
}

/** The option's format; by default pretty on a terminal, otherwise JSON lines. */
export const formatOf = (
  { err }: Pick<Context, 'err'>,
  { logFormat }: Pick<GlobalOptions, 'logFormat'>,
): LogFormat => logFormat ?? (err.isTerminal ? 'pretty' : 'json');

/** The settings of a command, with its global flags and its selection. */
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
