import { type Command, InvalidArgumentError, Option } from 'commander';
import { findChain } from '../config/select.ts';
import type { Settings } from '../config/settings.ts';
import { isBoundedBy } from '../lists/index.ts';
import type { ScopeBounds } from '../lists/list.ts';
import { operationNames } from '../lists/registry.ts';
import { linkAbort } from '../sync/walk.ts';
import { momentForms, parseDuration, parseMoment } from '../time.ts';
import { UsageError } from './context.ts';

export interface ChosenFeeds {
  readonly chain?: readonly string[];
  readonly operation?: readonly string[];
}

export const addFeedOptions = (command: Command): Command =>
  command
    .option('--chain <chain...>', 'only these chains, by number or name')
    .addOption(
      new Option('--operation <name...>', 'only these operations').choices(operationNames),
    );

/** Parses each value of a repeatable option. */
export const collect =
  <Value>(parse: (value: string) => Value) =>
  (value: string, before: readonly Value[] = []): readonly Value[] => [...before, parse(value)];

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

/** The chain id of a flag's value. @throws UsageError if no chain has this name */
export function chainOf(flag: string, listed: Parameters<typeof findChain>[1]): number {
  const found = findChain(flag, listed);
  if ('problem' in found) throw new UsageError(found.problem);
  return found.id;
}

/** Each bound's flag, its help, and its parser. */
const bounds = {
  since: [
    '--since <time>',
    'read newest-first lists back to this date or time, or so far back, such as 7d, or all',
    sinceOf,
  ],
  maxPages: ['--max-pages <n>', 'pages to read of each list; skips batch blocks', wholeNumber(1)],
  fromBatch: ['--from-batch <n>', 'first Optimism batch to read', wholeNumber(0)],
  toBatch: ['--to-batch <n>', 'last Optimism batch to read', wholeNumber(0)],
  fromBlock: ['--from-block <n>', 'read only what is missing from this block on', wholeNumber(0)],
  toBlock: ['--to-block <n>', 'read only what is missing up to this block', wholeNumber(0)],
} as const;

type Bound = keyof typeof bounds;

/** Flags of several commands: each with its help, and its parser if it takes a value. */
const flags = {
  ...bounds,
  sameData: [
    '--same-data',
    'continue although base_url has changed: the explorer serves the same chains as before',
  ],
  takeOver: [
    '--take-over',
    'want feeds that other deployments want with other settings, in their place',
  ],
  for: ['--for <duration>', 'end cleanly within this time, such as 10m', durationOf],
} as const;

export function addFlags(command: Command, ...names: readonly (keyof typeof flags)[]): Command {
  for (const name of names) {
    const [flag, help, parse] = flags[name];
    const option = new Option(flag, help);
    command.addOption(parse === undefined ? option : option.argParser<unknown>(parse));
  }
  return command;
}

const flagOf = (bound: Bound) => bounds[bound][0].split(' ')[0];

export const givenBounds = (given: ScopeBounds): Bound[] =>
  (Object.keys(bounds) as Bound[]).filter((bound) => given[bound] !== undefined);

/** The bounds of the flags. @throws UsageError if one is reversed, or no chosen feed has it */
export function boundsOfFlags(settings: Settings, given: ScopeBounds): ScopeBounds {
  refuseReversed('batch', given.fromBatch, given.toBatch);
  refuseReversed('block', given.fromBlock, given.toBlock);
  const names = givenBounds(given);
  for (const bound of names) requireChosen(settings, bound);
  return Object.fromEntries(
    names.map((bound) => [bound, given[bound] === allHistory ? null : given[bound]]),
  );
}

function refuseReversed(unit: 'batch' | 'block', from?: number, to?: number): void {
  if (from === undefined || to === undefined || from <= to) return;
  throw new UsageError(`--from-${unit} ${from} is above --to-${unit} ${to}: exchange them.`);
}

/** Refuses a bound of an operation that is not mirrored: it would have no effect. */
function requireChosen({ chains }: Settings, bound: Bound): void {
  const bounded = operationNames.filter((name) => isBoundedBy(name, bound));
  if (chains.some(({ operations }) => bounded.some((name) => operations[name] !== undefined))) {
    return;
  }
  throw new UsageError(
    `${flagOf(bound)} applies only to ${bounded.join(', ')}: remove it, or add --operation ${bounded[0]}.`,
  );
}

/** The `--since` without a bound. Commander makes a parsed null an empty text. */
export const allHistory = 'all';

/** Parses an option's value as a time, in ISO 8601; `others` names what it may be besides. */
export const momentParser =
  (others = '') =>
  (value: string): string => {
    const time = parseMoment(value, new Date());
    if (time === null) throw new InvalidArgumentError(`It is not ${momentForms}${others}.`);
    return time;
  };

/** The time of `--since`, or `allHistory`. */
export function sinceOf(flag: string): string {
  if (flag === allHistory) return flag;
  const time = momentParser(', or all')(flag);
  if (Date.parse(time) <= Date.now()) return time;
  throw new InvalidArgumentError('The time is in the future.');
}

/** The duration of `--for` in ms. A timer of Node lasts no longer than 2^31 ms. */
function durationOf(text: string): number {
  const ms = parseDuration(text) ?? 0;
  if (ms >= 1000 && ms < 2 ** 31) return ms;
  throw new InvalidArgumentError('It is a duration from 1s to 24d, such as 10m.');
}

/** What a command keeps of its time for the last commit, its sums and its result. */
const closingMs = 20_000;

/** When a command stops to read, and when it also leaves what it does at its end. */
export interface Ends {
  readonly reading: AbortSignal;
  readonly closing: AbortSignal;
}

/** The end of a duration, or a signal before. That of `AbortSignal.any` may miss a timeout that was collected. */
export function endsOf(signal: AbortSignal, forMs?: number): Ends {
  if (forMs === undefined) return { reading: signal, closing: signal };
  const after = (ms: number) => {
    const end = linkAbort(signal);
    setTimeout(() => end.abort(new Error('the time is over')), ms).unref();
    return end.signal;
  };
  return { reading: after(Math.max(forMs - closingMs, forMs / 2)), closing: after(forMs) };
}
