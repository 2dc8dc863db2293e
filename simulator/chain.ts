import { blocksBefore } from './batch-size.ts';
import { planRhythm, type Calendar } from './calendar.ts';
import { createDirectory, type Directory } from './directory.ts';
import type { Disorder } from './disorder.ts';
import { planCourse, type Course, type Motion } from './motion.ts';
import { slotsBefore, type Numbering } from './numbering.ts';
import { createStream, type Stream } from './random.ts';
import { planTimetable, type Timetable } from './timetable.ts';

/** The lowest height of every chain, and of its user operations: as long as those of OP Mainnet. */
export const firstHeight = 105_000_000;

/** The shape of the answers: v10 has older names, v12 the newest cursor. */
export type Generation = 'v10' | 'v11' | 'v12';

/** What kind of chain it is: which extra objects its blocks carry; plain serves none of the lists. */
export type Family = 'optimism' | 'arbitrum' | 'celo' | 'plain';

/** Something that a service may do and a reader must survive. */
export type Oddity =
  | 'max-wei'
  | 'nul-in-name'
  | 'duplicates-in-page'
  | 'duplicates-across-pages'
  | 'empty-page-with-cursor'
  | 'missing-hash'
  | 'end-absent'
  | 'end-empty-object'
  | 'echo-key';

/** A chain of the simulated explorer: how much it holds, and how it answers. */
export interface SimulatedChain {
  readonly id: number;
  readonly name: string;
  readonly family: Family;
  readonly generation: Generation;
  /**
   * How many operations the list holds; with motion, about how many were made before the start; with
   * a calendar, about how many its first 90 days hold.
   */
  readonly userOperations: number;
  /**
   * Batches `first` to `first + count - 1` of `blocks` blocks on average. Sizes vary with a period
   * of 5 batches, so that any 5 batches in a row (holes not counted) hold exactly `5 * blocks`.
   * With motion these are full at the start, and others follow. With a calendar the first one begins
   * at a time of its own.
   */
  readonly batches: { readonly first: number; readonly count: number; readonly blocks: number };
  /** Batch numbers that hold nothing; the heights of their neighbours meet. */
  readonly holes?: readonly number[];
  /** A whole number below 100: so many more of every hundred numbers are holes too. */
  readonly holesPercent?: number;
  readonly factories: number;
  readonly oddities?: readonly Oddity[];
  /** Serves user operations in wrong order. */
  readonly disorder?: Disorder;
  /** How the chain moves with the simulator's clock; without it nothing ever changes. */
  readonly motion?: Motion;
  /** When it begins, milliseconds since 1970; `startInstantMs` if absent. A calendar has its own. */
  readonly startsAtMs?: number;
  /** Makes everything look lived in, up to a present; not together with motion. */
  readonly calendar?: Calendar;
}

const streamNames = [
  'address-facts',
  'batch-fate',
  'batch-hole',
  'block',
  'block-shape',
  'calendar',
  'directory',
  'disorder',
  'factory',
  'factory-life',
  'factory-rung',
  'factory-shape',
  'implementation',
  'listed-batch',
  'miner',
  'miner-facts',
  'page',
  'reorg',
  'sender',
  'user-operation',
  'user-operation-bundle',
  'user-operation-life',
  'user-operation-rung',
  'user-operation-shape',
] as const;

/** Which sequence of pseudo-random items. */
type StreamName = (typeof streamNames)[number];

/** A chain with the streams that its seed gives it: all that an item is a function of. */
export interface World {
  /** As described; with a calendar `userOperations` are those until its end. */
  readonly chain: SimulatedChain;
  readonly oddities: ReadonlySet<Oddity>;
  readonly numbering: Numbering;
  /** Null where nothing moves. */
  readonly course: Course | null;
  /** What a calendar makes of the chain; null without one. */
  readonly lived: Lived | null;
  readonly streams: Readonly<Record<StreamName, Stream>>;
}

/** What is peculiar to a chain that lives by the calendar. */
export interface Lived {
  readonly timetable: Timetable;
  readonly directory: Directory;
}

/**
 * The world of a chain under a seed. Throws a RangeError where its motion or calendar makes no sense.
 */
export function createWorld(seed: number, described: SimulatedChain): World {
  const streams = Object.fromEntries(
    streamNames.map((name) => [name, createStream(seed, described.id, name)]),
  ) as Record<StreamName, Stream>;
  const lived = liveBy(described, streams);
  const userOperations = lived?.timetable.operations ?? described.userOperations;
  const chain = { ...described, userOperations };
  const { first, count, blocks } = chain.batches;
  const numbering: Numbering = {
    first,
    holes: [...new Set(chain.holes)]
      .filter((number) => number >= first)
      .sort((left, right) => left - right),
    holesPerCycle: chain.holesPercent ?? 0,
    stream: streams['batch-hole'],
  };
  const history = {
    lowest: firstHeight,
    operations: userOperations,
    batchBlocks: blocksBefore(blocks, slotsBefore(numbering, first + count)),
  };
  const course = chain.motion === undefined ? null : planCourse(chain.motion, history);
  return { chain, oddities: new Set(chain.oddities), numbering, course, lived, streams };
}

function liveBy(chain: SimulatedChain, streams: World['streams']): Lived | null {
  const { calendar, motion, userOperations: operations } = chain;
  if (calendar === undefined) return null;
  if (motion !== undefined) throw new RangeError('a chain has a calendar or motion, not both');
  const rhythm = planRhythm(calendar, streams.calendar);
  const stream = streams['user-operation-rung'];
  return {
    timetable: planTimetable(rhythm, { lowest: firstHeight, operations, stream }),
    directory: createDirectory(chain, streams.directory, streams['address-facts']),
  };
}

/** The largest value of 256 bits, which fills every wei field under `max-wei`. */
const maxWei = (2n ** 256n - 1n).toString();

/** Every how many items one has its largest values, or lacks its hash. Primes, so they mix. */
const maxWeiEvery = 11;
const missingHashEvery = 97;
/** Which of the 97 lacks it: early enough that a list of 14 items has one. */
const missingHashAt = 13;

/** How wei values of item `index` appear: as drawn, or the largest. */
export function weiOf(world: World, index: number): <Wei extends string | null>(wei: Wei) => Wei {
  const isLargest = world.oddities.has('max-wei') && index % maxWeiEvery === 0;
  return <Wei extends string | null>(wei: Wei) => (isLargest ? (maxWei as Wei) : wei);
}

/** Whether the service leaves the hash of item `index` out, so that it cannot become a row. */
export function lacksHash(world: World, index: number): boolean {
  return world.oddities.has('missing-hash') && index % missingHashEvery === missingHashAt;
}
