import { checksumAddress, factoryAt, isKnown, renderAddress } from './addresses.ts';
import type { Course } from './motion.ts';
import { isAbove, type Position, type RankedList } from './pages.ts';
import { evenLadder, rankDigits, rungOf } from './places.ts';
import type { Random } from './random.ts';
import { lacksHash, perWorld, type World } from './world.ts';

/** A wallet factory; ordinal 0 is the last of the list at the start. */
type Factory = ReturnType<typeof drawFactory>;

/** A factory that was seen, and since when it is missing; null while it is listed. */
export interface SeenFactory extends Factory {
  readonly missingSinceMs: number | null;
}

/** The list at a time, most accounts first. */
export function listFactories(world: World, atMs: number): RankedList<Factory> {
  const listed = factoriesSeen(world, atMs).filter(({ missingSinceMs }) => missingSinceMs === null);
  return {
    below(position, length) {
      const from = listed.findIndex(
        (factory) => position === null || !isAbove(positionOf(factory), position),
      );
      return from === -1 ? [] : listed.slice(from, from + length);
    },
    above: ({ ordinal }) => listed[listed.findIndex((other) => other.ordinal === ordinal) - 1],
    token: ({ totalAccounts, addressHash }) => `${totalAccounts},${checksumAddress(addressHash)}`,
    digits: 40,
    render({ ordinal, addressHash, shown, totalAccounts, extra, ...factory }) {
      const shape = world.draw('factory-shape', ordinal);
      const address = factory.lacksHash
        ? { name: 'x' }
        : renderAddress(world, addressHash, shown, shape);
      return { address, total_accounts: totalAccounts, ...extra };
    },
  };
}

/** Every factory that was on the list at some moment until a time, most accounts first. */
export function factoriesSeen(world: World, atMs: number): SeenFactory[] {
  const { course } = world;
  const seen = drawnFactories(world).flatMap((factory): SeenFactory[] => {
    if (course === null) return [{ ...factory, missingSinceMs: null }];
    const state = stateAt(course, factory.ordinal, atMs);
    if (state === 'unseen') return [];
    const missingSinceMs = state === 'listed' ? null : state.sinceMs;
    // The last that anyone could read of a missing one.
    const readMs = missingSinceMs === null ? atMs : missingSinceMs - 1;
    const totalAccounts = factory.totalAccounts + countRise(course, factory.ordinal, readMs);
    return [{ ...factory, totalAccounts, missingSinceMs }];
  });
  return seen.sort((left, right) => (isAbove(positionOf(left), positionOf(right)) ? -1 : 1));
}

const positionOf = ({ totalAccounts, addressHash }: Factory): Position => ({
  value: totalAccounts,
  key: addressHash,
});

/** With their least counts: to draw them for each page would be slow. */
const drawnFactories = perWorld((world) =>
  Array.from({ length: world.chain.factories }, (_, ordinal) => drawFactory(world, ordinal)),
);

function drawFactory(world: World, ordinal: number) {
  const random = world.draw('factory', ordinal);
  const { addressHash, totalAccounts } = drawRank(world, ordinal, random);
  const hasExtra = world.chain.generation === 'v12' && random.oneIn(4);
  const shown = isKnown(world, addressHash) ? ('full' as const) : ('unknown' as const);
  return {
    ordinal,
    addressHash,
    shown,
    lacksHash: lacksHash(world, ordinal),
    totalAccounts,
    /** Members of the object that the contract does not list. */
    extra: hasExtra ? { verified_deployments: random.below(50) } : null,
  };
}

/** The address of the factory with this ordinal, without drawing all others. */
export const factoryAddressAt = (world: World, ordinal: number): string =>
  drawRank(world, ordinal, world.draw('factory', ordinal)).addressHash;

/** Accounts of the largest factory of a chain in use; the second has a third. */
const largest = 150_000;

function drawRank(world: World, ordinal: number, random: Random) {
  const { draw, chain } = world;
  const digits = random.hex(5);
  if (!chain.lived) {
    const ladder = evenLadder(1, 29, (rung) => draw('factory-rung', rung));
    return {
      addressHash: rankDigits(digits, ordinal),
      totalAccounts: ladder.valueOf(rungOf(ordinal)),
    };
  }
  const rank = chain.factories - ordinal;
  // The ordinal keeps the smallest apart, so that no two share a count.
  const totalAccounts = 1 + ordinal + Math.floor(largest / (rank * Math.sqrt(rank)));
  return { addressHash: factoryAt(world, rank - 1), totalAccounts };
}

/** How far a count rises above its least at most: three rungs, so about nine places up and down. */
const countSpread = 90;
const hourMs = 60 * 60_000;
/** A factory that is absent at times is so for the last 12 hours of each 48. */
const absentCycleMs = 48 * hourMs;
const absentForMs = 12 * hourMs;
/** New factories enter within a week: the length of a long test. */
const entersWithinMs = 7 * 24 * hourMs;

/** Whether a factory is listed at a time, and since when it is missing, watched from time 0 on. */
function stateAt(
  { draw, newFactoriesPercent, absentFactoriesPercent }: Course,
  ordinal: number,
  atMs: number,
): 'listed' | 'unseen' | { readonly sinceMs: number } {
  const random = draw('factory-life', ordinal);
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

/** By how much the count of a factory exceeds its least at a time; 0 if counts rest. */
function countRise({ draw, factoryChangeMs }: Course, ordinal: number, atMs: number): number {
  if (factoryChangeMs === Infinity) return 0;
  // Each factory changes at its own moments, so that a walk sees single rows move.
  const phaseMs = draw('factory-life', ordinal, 1).below(factoryChangeMs);
  const period = Math.floor((atMs + phaseMs) / factoryChangeMs);
  return draw('factory-life', ordinal, period + 2).below(countSpread + 1);
}
