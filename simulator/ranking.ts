import { checksumAddress, isKnown, renderAddress } from './addresses.ts';
import type { Course } from './motion.ts';
import { inOrder, type Position, type RankedList } from './pages.ts';
import { evenLadder, rankDigits, rungOf } from './places.ts';
import type { Random } from './random.ts';
import { lacksHash, perWorld, type World } from './world.ts';

/** An address that a count ranks; ordinal 0 is the last of the list at the start. */
interface Ranked {
  readonly ordinal: number;
  readonly addressHash: string;
  readonly shown: 'full' | 'unknown';
  readonly lacksHash: boolean;
  readonly count: number;
}

/** One that was seen, and since when it is missing; null while it is listed. */
export interface Seen extends Ranked {
  readonly missingSinceMs: number | null;
}

type Rank = Pick<Ranked, 'addressHash' | 'count'>;

/** A list of addresses by a count of each, which every request counts. */
interface Ranking<Traits> {
  /** What its draws are named after. */
  readonly name: string;
  readonly length: (world: World) => number;
  /** The address and the least count of an item. */
  readonly drawRank: (world: World, ordinal: number, random: Random) => Rank;
  /** What else there is of it, drawn after its rank. */
  readonly drawTraits: (world: World, random: Random) => Traits;
  /** The members of an item beside its address. */
  readonly print: (item: Ranked & Traits) => object;
}

export function ranking<Traits extends object>({ name, print, ...drawn }: Ranking<Traits>) {
  /** With their least counts: to draw them for each page would be slow. */
  const drawAll = perWorld((world) =>
    Array.from({ length: drawn.length(world) }, (_, ordinal): Ranked & Traits => {
      const random = world.draw(name, ordinal);
      const rank = drawn.drawRank(world, ordinal, random);
      const shown = isKnown(world, rank.addressHash) ? 'full' : 'unknown';
      const traits = drawn.drawTraits(world, random);
      return { ...traits, ...rank, ordinal, shown, lacksHash: lacksHash(world, ordinal) };
    }),
  );

  /** All that were on the list at some moment until a time, highest count first. */
  const seen = (world: World, atMs: number): (Seen & Traits)[] => {
    const { course } = world;
    const items = drawAll(world).flatMap((item): (Seen & Traits)[] => {
      const state = stateAt(course, name, item.ordinal, atMs);
      if (state === 'unseen') return [];
      const missingSinceMs = state === 'listed' ? null : state.sinceMs;
      // The last that anyone could read of a missing one.
      const readMs = missingSinceMs === null ? atMs : missingSinceMs - 1;
      const count = item.count + countRise(course, name, item.ordinal, readMs);
      return [{ ...item, count, missingSinceMs }];
    });
    return inOrder(items, positionOf);
  };

  /** The list at a time, highest count first. */
  const list = (world: World, atMs: number): RankedList<Ranked & Traits> => {
    const listed = seen(world, atMs).filter(({ missingSinceMs }) => missingSinceMs === null);
    return {
      floor: 0,
      head: listed[0]?.count ?? -1,
      spacing: Infinity,
      between: (lowest, highest) =>
        listed.filter(({ count }) => count >= lowest && count <= highest),
      positionOf,
      token: ({ count, addressHash }) => `${count},${checksumAddress(addressHash)}`,
      digits: 40,
      render(item) {
        const shape = world.draw(`${name}-shape`, item.ordinal);
        const address = item.lacksHash
          ? { name: 'x' }
          : renderAddress(world, item.addressHash, item.shown, shape);
        return { address, ...print(item) };
      },
    };
  };
  return { seen, list };
}

/** Counts that rise with the ordinal, some of them shared. */
export const evenRank =
  (name: string) =>
  ({ draw }: World, ordinal: number, random: Random): Rank => {
    const ladder = evenLadder(1, 29, (rung) => draw(`${name}-rung`, rung));
    return {
      addressHash: rankDigits(random.hex(5), ordinal),
      count: ladder.valueOf(rungOf(ordinal)),
    };
  };

/** The same, but on a chain in use the n-th counts an n-th of the first, of a part of all operations. */
export const operationsRank =
  (name: 'bundler' | 'paymaster', part: number) =>
  (world: World, ordinal: number, random: Random): Rank => {
    const { chain } = world;
    const even = evenRank(name)(world, ordinal, random);
    if (!chain.lived) return even;
    const length = chain[`${name}s`] ?? 0;
    const first = (part * chain.userOperations) / (1 + Math.log(length));
    return { ...even, count: Math.floor(first / (length - ordinal)) };
  };

const positionOf = ({ count, addressHash }: Ranked): Position => ({
  value: count,
  key: addressHash,
});

/** How far a count rises above its least at most: three rungs, so about nine places up and down. */
const countSpread = 90;
const hourMs = 60 * 60_000;
/** An item that is absent at times is so for the last 12 hours of each 48. */
const absentCycleMs = 48 * hourMs;
const absentForMs = 12 * hourMs;
/** New items enter within a week: the length of a long test. */
const entersWithinMs = 7 * 24 * hourMs;

/** Whether an item is listed at a time, and since when it is missing, watched from time 0 on. */
function stateAt(
  { draw, newFactoriesPercent, absentFactoriesPercent }: Course,
  name: string,
  ordinal: number,
  atMs: number,
): 'listed' | 'unseen' | { readonly sinceMs: number } {
  const random = draw(`${name}-life`, ordinal);
  const fate = random.below(100_000) / 1000;
  if (fate < newFactoriesPercent) {
    return atMs < 1 + random.below(entersWithinMs) ? 'unseen' : 'listed';
  }
  if (fate >= newFactoriesPercent + absentFactoriesPercent) return 'listed';
  const inCycleMs = (atMs + random.below(absentCycleMs)) % absentCycleMs;
  const sinceMs = atMs - (inCycleMs - (absentCycleMs - absentForMs));
  if (sinceMs > atMs) return 'listed';
  return sinceMs > 0 ? { sinceMs } : 'unseen';
}

/** By how much the count of an item exceeds its least at a time; 0 if counts rest. */
function countRise(
  { draw, factoryChangeMs }: Course,
  name: string,
  ordinal: number,
  atMs: number,
): number {
  if (factoryChangeMs === Infinity) return 0;
  // Each item changes at its own moments, so that a walk sees single rows move.
  const phaseMs = draw(`${name}-life`, ordinal, 1).below(factoryChangeMs);
  const period = Math.floor((atMs + phaseMs) / factoryChangeMs);
  return draw(`${name}-life`, ordinal, period + 2).below(countSpread + 1);
}
