import { loadSettings, type SettingsInput } from '../config/load.ts';
import type { Settings } from '../config/settings.ts';
import { createLog, type Log } from '../log.ts';
import type { Context, GlobalOptions } from './context.ts';

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
