import { type Command, InvalidArgumentError, Option } from 'commander';
import { findChain } from '../config/select.ts';
import type { Settings } from '../config/settings.ts';
import { operationNames } from '../lists/registry.ts';
import { type Context, type GlobalOptions, UsageError } from './context.ts';
import { settingsOf } from './setup.ts';

export interface ChosenFeeds {
  readonly chain?: readonly string[];
  readonly operation?: readonly string[];
}

/** Collects the values of a repeatable option. */
export const collect = (value: string, before: readonly string[] | undefined) => [
  ...(before ?? []),
  value,
];

export function addFeedOptions(command: Command): Command {
  return command
    .option('--chain <chain>', 'only this chain, by number or name (repeatable)', collect)
    .addOption(
      new Option('--operation <name>', 'only this operation (repeatable)')
        .choices(operationNames)
        .argParser(chooseOperation),
    );
}

export function addSameData(command: Command): Command {
  return command.option(
    '--same-data',
    'continue although base_url has changed: the explorer serves the same chains as before',
  );
}

function chooseOperation(value: string, before: readonly string[] | undefined) {
  if (operationNames.some((name) => name === value)) return collect(value, before);
  throw new InvalidArgumentError(`It is one of: ${operationNames.join(', ')}.`);
}

/** The chain id of a flag's value. @throws UsageError if no chain has this name */
export function chainOf(flag: string, { chains }: Pick<Settings, 'chains'>): number {
  const found = findChain(flag, chains);
  if ('problem' in found) throw new UsageError(`${found.problem}.`);
  return found.id;
}

/** The chosen stored feeds, also unconfigured ones. @throws UsageError for an unknown chain */
export function storedFeeds(context: Context, options: ChosenFeeds & GlobalOptions) {
  const { chain = [], operation: operations = [], ...others } = options;
  const settings = settingsOf(context, others, 'database');
  return { settings, chains: chain.map((flag) => chainOf(flag, settings)), operations };
}

/** Parses an option's value as a whole number in a range. */
export const wholeNumber =
  (least: number, most = Number.MAX_SAFE_INTEGER) =>
  (value: string) => {
    const number = Number(value);
    if (/^\d+$/.test(value) && number >= least && number <= most) return number;
    const range =
      most === Number.MAX_SAFE_INTEGER ? `of at least ${least}` : `from ${least} to ${most}`;
    throw new InvalidArgumentError(`It is a whole number ${range}.`);
  };
