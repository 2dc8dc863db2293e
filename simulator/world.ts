import { courseLadder, planCourse, type Motion } from './motion.ts';
import {
  blocksBefore,
  blockTimeMs,
  evenLadder,
  firstHeight,
  livedLadder,
  planNumbering,
  startOf,
} from './places.ts';
import { drawsOf } from './random.ts';

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
   * How many operations the list holds; with motion, about how many were made before the start; of a
   * chain in use, about how many its first 90 days hold.
   */
  readonly userOperations: number;
  /**
   * Batches `first` to `first + count - 1` of `blocks` blocks on average. Sizes vary with a period
   * of 5 batches, so that any 5 batches in a row (unused numbers not counted) hold exactly
   * `5 * blocks`. With motion these are full at the start, and others follow.
   */
  readonly batches: { readonly first: number; readonly count: number; readonly blocks: number };
  /** Batch numbers that hold nothing; the heights of their neighbours meet. */
  readonly gaps?: readonly number[];
  /** A whole number below 100: so many more of every hundred numbers hold nothing. */
  readonly gapsPercent?: number;
  readonly factories: number;
  /** Items of each other ranking; none if absent. */
  readonly otherRankings?: number;
  readonly oddities?: readonly Oddity[];
  /** Fees and rewards that a chain could have, as on one in use; absent: they have more digits than any real one. */
  readonly usualAmounts?: boolean;
  /** How the chain moves with the simulator's clock; without it nothing ever changes. */
  readonly motion?: Motion;
  /** When it begins, milliseconds since 1970; `startInstantMs` if absent. */
  readonly startsAtMs?: number;
  /**
   * Makes a chain that rests look in use, up to so many blocks, with so many below its first batch.
   * With more blocks all below is as it was. Only its rankings follow the clock.
   */
  readonly lived?: { readonly blocks: number; readonly belowBatches: number };
  /**
   * Its lists as someone states them, read at each request, in place of what the seed draws.
   *
   * @param batch null for a list that has no batches
   */
  readonly stated?: (operation: string, batch: number | null) => readonly StatedItem[];
}

/** An item of a list that is stated, not drawn. */
export interface StatedItem {
  /** Its position in the list, which is in descending order: see `Position`. */
  readonly value: number;
  readonly key: string;
  /** What the service prints of it. */
  readonly printed: Readonly<Record<string, unknown>>;
}

/** A chain under a seed: all that an item is a function of. */
export type World = ReturnType<typeof createWorld>;

/** The world of a chain. Throws a RangeError if its motion makes no sense. */
export function createWorld(seed: number, described: SimulatedChain) {
  const draw = drawsOf(seed, described.id);
  const { batches, motion, lived, userOperations, startsAtMs = startInstantMs } = described;
  const { gaps = [], gapsPercent = 0 } = described;
  const numbering = planNumbering(batches.first, gaps, gapsPercent);
  const slots = numbering.slotsBefore(batches.first + batches.count);
  const batchBlocks = blocksBefore(batches.blocks, slots);
  const bottom = firstHeight + (lived?.belowBatches ?? 0);
  const course = planCourse(
    motion ?? null,
    { bottom, operations: userOperations, batchBlocks },
    draw,
  );
  const still = () =>
    lived
      ? livedLadder(startsAtMs, userOperations, draw)
      : evenLadder(firstHeight, 3, (rung) => draw('user-operation-rung', rung));
  const ladder = course.rests ? still() : courseLadder(course);
  const restingHead = firstHeight + (lived?.blocks ?? Infinity);
  const operationsAt = (atMs: number) =>
    lived
      ? startOf(ladder.rungsBelow(restingHead + Math.floor(atMs / blockTimeMs)))
      : userOperations;
  return {
    chain: { ...described, userOperations: operationsAt(0) },
    /** How many operations a chain in use has seen until a time. */
    operationsAt,
    /** The newest height of a chain that rests; Infinity if nothing says so. */
    restingHead,
    oddities: new Set(described.oddities),
    numbering,
    /** On a chain that rests some blocks of the newest batch stay pending: those from this height on. */
    pendingFrom: course.rests
      ? course.batchesBottom + blocksBefore(batches.blocks, slots - 1)
      : Infinity,
    /** The heights of the user operations. */
    ladder,
    course,
    draw,
  };
}

/**
 * When the lowest height was mined, milliseconds since 1970; on a chain that moves, the start of
 * the simulated clock. A chain may have its own (`startsAtMs`).
 */
export const startInstantMs = Date.UTC(2026, 9, 1);

/**
 * When a height was mined, milliseconds since 1970; whole seconds in v10, which prints no decimals.
 * On a chain that moves it lies in the block time before the height appears, never in the future.
 */
export function instantOf({ chain, course }: World, height: number, fractionMs: number): number {
  const { startsAtMs = startInstantMs, generation } = chain;
  const { blockMs, origin } = course;
  const instantMs = startsAtMs + (height - origin) * blockMs;
  if (generation === 'v10') return Math.floor(instantMs / 1000) * 1000;
  return instantMs + (fractionMs % blockMs);
}

/** An instant as the service prints it: ISO 8601 UTC with six decimals, or none in v10. */
export function printInstant({ chain }: World, instantMs: number): string {
  const printed = new Date(instantMs).toISOString();
  return chain.generation === 'v10' ? `${printed.slice(0, 19)}Z` : `${printed.slice(0, 23)}000Z`;
}

/** The largest value of 256 bits, which fills every wei field under `max-wei`. */
const maxWei = (2n ** 256n - 1n).toString();
/** Every how many items one has its largest values, or lacks its hash. Primes, so they mix. */
const maxWeiEvery = 11;
const missingHashEvery = 97;
/** Which of the 97 lacks it: early enough that a list of 14 items has one. */
const missingHashAt = 13;

export const hasUsualAmounts = ({ chain }: World): boolean =>
  chain.usualAmounts === true || chain.lived !== undefined;

/** Digits of a usual amount of wei: below a thousandth of the chain's currency. */
const usualDigits = 15;

/** How wei values of item `index` appear: as drawn, in part, or the largest. */
export function weiOf(world: World, index: number): <Wei extends string | null>(wei: Wei) => Wei {
  const isLargest = world.oddities.has('max-wei') && index % maxWeiEvery === 0;
  const digits = hasUsualAmounts(world) ? usualDigits : Infinity;
  return <Wei extends string | null>(wei: Wei) =>
    (isLargest ? maxWei : (wei?.slice(0, digits) ?? null)) as Wei;
}

/** Whether the service leaves the hash of item `index` out, so that it cannot become a row. */
export const lacksHash = (world: World, index: number): boolean =>
  world.oddities.has('missing-hash') && index % missingHashEvery === missingHashAt;

/** Something that is made once for each world. */
export function perWorld<Made>(make: (world: World) => Made): (world: World) => Made {
  const made = new WeakMap<World, Made>();
  return (world) => {
    const known = made.get(world) ?? make(world);
    made.set(world, known);
    return known;
  };
}
