import type { Command } from 'commander';
import type { Settings } from '../config/settings.ts';
import { isBoundedBy, kindOf } from '../lists/index.ts';
import type { ScopeBounds } from '../lists/list.ts';
import { operationNames } from '../lists/registry.ts';
import { momentForms, parseMoment } from '../time.ts';
import { wholeNumber } from './chosen-feeds.ts';
import type { CommandLine } from './command-line.ts';
import { UsageError } from './context.ts';

export interface BoundFlags extends Omit<ScopeBounds, 'since'> {
  readonly since?: string;
}

/** Each bound's flag, its help, and its minimum; null: the bound is a time. */
const flags = {
  since: [
    '--since <time>',
    'read newest-first lists back to this date or time, or so far back, such as 7d, or all; kept as their target',
    null,
  ],
  maxPages: ['--max-pages <n>', 'read at most this many pages of each list', 1],
  fromBatch: ['--from-batch <n>', 'first Optimism batch to read', 0],
  toBatch: ['--to-batch <n>', 'last Optimism batch to read', 0],
  fromBlock: ['--from-block <n>', 'read only what is missing from this block on', 0],
  toBlock: ['--to-block <n>', 'read only what is missing up to this block', 0],
} as const;

type Bound = keyof typeof flags;
const boundNames = Object.keys(flags) as Bound[];
const nameOf = (bound: Bound) => flags[bound][0].split(' ')[0];

/** Adds the flags of these bounds to a command. */
export function addBounds(command: Command, bounds: readonly Bound[]): Command {
  for (const bound of bounds) {
    const [flag, help, least] = flags[bound];
    if (least === null) command.option(flag, help);
    else command.option(flag, help, wholeNumber(least));
  }
  return command;
}

/** Example commands for the help, one for each operation whose list has bounds. */
export const examplesOf = (command: 'sync' | 'backfill', commandLine: CommandLine) =>
  operationNames
    .flatMap((name) => {
      const bounds = kindOf(name).examples[command];
      return bounds === null
        ? []
        : [`  ${commandLine(`explorer-etl ${command} --chain 10 --operation ${name} ${bounds}`)}`];
    })
    .join('\n');

/** The bounds of the flags. @throws UsageError if one is invalid `now`, or no chosen feed has it */
export function boundsOf(settings: Settings, given: BoundFlags, now: Date): ScopeBounds {
  const { since, fromBatch, toBatch, fromBlock, toBlock } = given;
  refuseReversed('batch', fromBatch, toBatch);
  refuseReversed('block', fromBlock, toBlock);
  const names = givenBounds(given);
  const bounds: ScopeBounds = {
    ...Object.fromEntries(names.map((bound) => [bound, given[bound]])),
    ...(since !== undefined && { since: sinceOf(since, now) }),
  };
  for (const bound of names) requireChosen(settings, bound);
  return bounds;
}

export const givenBounds = (bounds: ScopeBounds) =>
  boundNames.filter((bound) => bounds[bound] !== undefined);

/** Refuses a bound of an operation that is not mirrored: it would have no effect. */
function requireChosen({ chains }: Settings, bound: Bound): void {
  const bounded = operationNames.filter((name) => isBoundedBy(name, bound));
  if (chains.some(({ operations }) => bounded.some((name) => operations[name] !== undefined))) {
    return;
  }
  throw new UsageError(
    `${nameOf(bound)} is about ${bounded.join(' and ')}, and none of that is chosen: leave it out, or add --operation ${bounded[0]}.`,
  );
}

/** The time of `--since`, as an ISO 8601 string; null: all history. */
function sinceOf(flag: string, now: Date): string | null {
  if (flag === 'all') return null;
  const time = parseMoment(flag, now);
  if (time === null) throw new UsageError(`--since ${flag}: not ${momentForms}, or all`);
  if (Date.parse(time) > now.getTime()) {
    throw new UsageError(`--since ${flag} is in the future: nothing is that new.`);
  }
  return time;
}

function refuseReversed(unit: 'batch' | 'block', from?: number, to?: number): void {
  if (from === undefined || to === undefined || from <= to) return;
  throw new UsageError(
    `--from-${unit} ${from} is above --to-${unit} ${to}: the range is reversed.`,
  );
}
