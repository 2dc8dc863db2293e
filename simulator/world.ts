import { blocksBefore, slotsBefore, type Numbering } from './numbering.ts';
import { blockTimeMs, minedAt, planTimetable, type Calendar, type Timetable } from './calendar.ts';
import { createDirectory, type Directory } from './directory.ts';
import { evenLadder, firstHeight, type Ladder } from './ladder.ts';
import { courseLadder, planCourse, type Course, type Motion } from './motion.ts';
import { drawsOf, type Draw } from './random.ts';

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

/** Serves a part of a list in wrong order, at a time or always. Cursors stay in order. */
export interface Disorder {
  /** How much of the list is in wrong order. */
  readonly percent: number;
  /** Simulated milliseconds; from the start if absent. */
  readonly fromMs?: number;
  /** Simulated milliseconds, exclusive; for good if absent. */
  readonly untilMs?: number;
}

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

/** A chain under a seed: all that an item is a function of. */
export interface World {
  /** As described; with a calendar `userOperations` are those until its end. */
  readonly chain: SimulatedChain;
  readonly oddities: ReadonlySet<Oddity>;
  readonly numbering: Numbering;
  /** The lowest height that a batch holds. */
  readonly batchesFloor: number;
  /** The heights of the user operations. */
  readonly ladder: Ladder;
  /** Null if nothing moves. */
  readonly course: Course | null;
  /** What a calendar makes of the chain; null without one. */
  readonly lived: Lived | null;
  readonly draw: Draw;
}

/** What is peculiar to a chain that lives by the calendar. */
export interface Lived extends Directory {
  readonly timetable: Timetable;
}

/** The world of a chain. Throws a RangeError if its motion or calendar makes no sense. */
export function createWorld(seed: number, described: SimulatedChain): World {
  const draw = drawsOf(seed, described.id);
  const { batches, motion, holesPercent, holes = [] } = described;
  const lived = liveBy(described, draw);
  const chain = {
    ...described,
    userOperations: lived?.timetable.operations ?? described.userOperations,
  };
  const numbering: Numbering = {
    first: batches.first,
    holes: [...new Set(holes)].filter((hole) => hole >= batches.first).sort((a, b) => a - b),
    holesPerCycle: holesPercent ?? 0,
    draw: (round) => draw('batch-hole', round),
  };
  const batchBlocks = blocksBefore(
    batches.blocks,
    slotsBefore(numbering, batches.first + batches.count),
  );
  const course =
    motion === undefined ? null : planCourse(motion, chain.userOperations, batchBlocks, draw);
  return {
    chain,
    oddities: new Set(chain.oddities),
    numbering,
    batchesFloor: (course ?? lived?.timetable)?.batchesFloor ?? firstHeight,
    ladder:
      course === null
        ? (lived?.timetable.ladder ??
          evenLadder(firstHeight, 3, (rung) => draw('user-operation-rung', rung)))
        : courseLadder(course),
    course,
    lived,
    draw,
  };
}

function liveBy(chain: SimulatedChain, draw: Draw): Lived | null {
  const { calendar, motion, userOperations, factories } = chain;
  if (calendar === undefined) return null;
  if (motion !== undefined) throw new RangeError('a chain has a calendar or motion, not both');
  return {
    timetable: planTimetable(calendar, userOperations, draw),
    ...createDirectory(factories, draw),
  };
}

/**
 * When the lowest height was mined, milliseconds since 1970; on a chain that moves, the start of
 * the simulated clock. A chain may have its own (`startsAtMs`).
 */
export const startInstantMs = Date.UTC(2026, 9, 1);

/**
 * When a height was mined, milliseconds since 1970; whole seconds in v10, which prints no decimals.
 * On a chain that moves it lies in the block time before the height appears, never in the future; on
 * one with a calendar it is the block's own time, in whole seconds as on real chains.
 */
export function instantOf(world: World, height: number, fractionMs: number): number {
  const { chain, course, lived } = world;
  if (lived !== null) return minedAt(lived.timetable, height);
  const blockMs = course?.blockMs ?? blockTimeMs;
  const origin = course === null ? firstHeight : course.headAtStart + 1;
  const instantMs = (chain.startsAtMs ?? startInstantMs) + (height - origin) * blockMs;
  if (chain.generation === 'v10') return Math.floor(instantMs / 1000) * 1000;
  return instantMs + (fractionMs % blockMs);
}

/** An instant as the service prints it: ISO 8601 UTC with six decimals, or none in v10. */
export function printInstant(generation: Generation, instantMs: number): string {
  const printed = new Date(instantMs).toISOString();
  return generation === 'v10' ? `${printed.slice(0, 19)}Z` : `${printed.slice(0, 23)}000Z`;
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
