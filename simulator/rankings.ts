import { factoryAt, isKnown, renderAddress } from './addresses.ts';
import type { Course } from './motion.ts';
import { inOrder, listAll, type List, type Position } from './pages.ts';
import { evenLadder, rankDigits, rungOf } from './places.ts';
import type { Random } from './random.ts';
import { lacksHash, perWorld, type World } from './world.ts';

/** An address that a count ranks; ordinal 0 is the last of the list at the start. */
export interface Ranked {
  readonly ordinal: number;
  readonly addressHash: string;
  readonly shown: 'full' | 'unknown';
  readonly lacksHash: boolean;
  readonly count: number;
  /** All counts of the address under the contract's names, `count` among them. */
  readonly counts: Readonly<Record<string, number>>;
  /** Members of the object that the contract does not list. */
  readonly extra: object | null;
  /** Since when it is missing; null while it is listed. */
  readonly missingSinceMs: number | null;
}

type Rank = Pick<Ranked, 'addressHash' | 'count'> & {
  /** On a chain in use, what each operation of the chain adds to the count. */
  readonly perOperation: number;
};

interface Traits {
  readonly extra?: object | null;
  /** The other counts of an item, which follow from the one that ranks it. */
  readonly countsBeside?: (count: number) => Readonly<Record<string, number>>;
}

/** A list of addresses by a count of each, which every request counts. */
interface Ranking {
  /** What one of its items is; its draws are named after it. */
  readonly item: string;
  /** What the contract calls the count. */
  readonly total: string;
  readonly length: (world: World) => number;
  /** The address and the least count of an item. */
  readonly drawRank: (world: World, ordinal: number, random: Random) => Rank;
  /** What else there is of it, drawn after its rank. */
  readonly drawTraits?: (world: World, random: Random) => Traits;
}

function ranking({ item: name, total, ...drawn }: Ranking) {
  /** With their least counts: to draw them for each page would be slow. */
  const drawAll = perWorld((world) =>
    Array.from({ length: drawn.length(world) }, (_, ordinal) => {
      const random = world.draw(name, ordinal);
      const rank = drawn.drawRank(world, ordinal, random);
      const shown: Ranked['shown'] = isKnown(world, rank.addressHash) ? 'full' : 'unknown';
      const traits = drawn.drawTraits?.(world, random) ?? {};
      return { ordinal, shown, lacksHash: lacksHash(world, ordinal), rank, traits };
    }),
  );

  /** All that were on the list at some moment until a time, highest count first. */
  const seen = (world: World, atMs: number): Ranked[] => {
    const { course } = world;
    const operations = world.operationsAt(atMs);
    const items = drawAll(world).flatMap(({ rank, traits, ...item }) => {
      const life = (edition?: number) => course.draw(`${name}-life`, item.ordinal, edition);
      const missingSinceMs = missingSince(course, life(), atMs);
      if (missingSinceMs === undefined) return [];
      // The last that anyone could read of a missing one.
      const readMs = missingSinceMs === null ? atMs : missingSinceMs - 1;
      const grown = Math.floor(rank.perOperation * operations) + riseOf(course, life, readMs);
      const count = rank.count + grown;
      const counts = { ...traits.countsBeside?.(count), [total]: count };
      const { addressHash } = rank;
      return [{ ...item, addressHash, count, counts, extra: traits.extra ?? null, missingSinceMs }];
    });
    return inOrder(items, positionOf);
  };

  /** The list at a time, highest count first. */
  const list = (world: World, atMs: number): List<Ranked> => {
    const listed = seen(world, atMs).filter(({ missingSinceMs }) => missingSinceMs === null);
    return listAll(listed, positionOf, (item) => {
      const shape = world.draw(`${name}-shape`, item.ordinal);
      const address = item.lacksHash
        ? { name: 'x' }
        : renderAddress(world, item.addressHash, item.shown, shape);
      return { address, ...item.counts, ...item.extra };
    });
  };
  /** The address of the item with this ordinal, without drawing all others. */
  const addressAt = (world: World, ordinal: number): string =>
    drawn.drawRank(world, ordinal, world.draw(name, ordinal)).addressHash;
  return { item: name, total, seen, list, addressAt };
}

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

/** Since when an item is missing, watched from time 0 on; null: it is listed; undefined: never seen. */
function missingSince(
  { newFactoriesPercent, absentFactoriesPercent }: Course,
  random: Random,
  atMs: number,
): number | null | undefined {
  const fate = random.below(100_000) / 1000;
  if (fate < newFactoriesPercent) {
    return atMs < 1 + random.below(entersWithinMs) ? undefined : null;
  }
  if (fate >= newFactoriesPercent + absentFactoriesPercent) return null;
  const inCycleMs = (atMs + random.below(absentCycleMs)) % absentCycleMs;
  const sinceMs = atMs - (inCycleMs - (absentCycleMs - absentForMs));
  if (sinceMs > atMs) return null;
  return sinceMs > 0 ? sinceMs : undefined;
}

/** By how much the count of an item exceeds its least at a time; 0 if counts rest. */
function riseOf({ factoryChangeMs }: Course, life: (edition: number) => Random, atMs: number) {
  if (factoryChangeMs === Infinity) return 0;
  // Each item changes at its own moments, so that a walk sees single rows move.
  const period = Math.floor((atMs + life(1).below(factoryChangeMs)) / factoryChangeMs);
  return life(period + 2).below(countSpread + 1);
}

/** Counts that rise with the ordinal, some of them shared. */
function evenRank(name: string, { draw }: World, ordinal: number, random: Random): Rank {
  const ladder = evenLadder(1, 29, (rung) => draw(`${name}-rung`, rung));
  const addressHash = rankDigits(random.hex(5), ordinal);
  return { addressHash, count: ladder.valueOf(rungOf(ordinal)), perOperation: 0 };
}

/** Accounts of the largest factory of a chain in use for each operation; the second has a third. */
const largest = 12;

function factoryRank(world: World, ordinal: number, random: Random): Rank {
  const { chain } = world;
  const even = evenRank('factory', world, ordinal, random);
  if (!chain.lived) return even;
  const rank = chain.factories - ordinal;
  // The ordinal keeps the smallest apart, so that no two share a count.
  const perOperation = largest / (rank * Math.sqrt(rank));
  return { addressHash: factoryAt(world, rank - 1), count: 1 + ordinal, perOperation };
}

/** Counts the same; but on a chain in use the n-th counts an n-th of the first, of a part of all operations. */
const byOperations = (
  item: string,
  part: number,
  drawTraits?: (world: World, random: Random) => Traits,
) =>
  ranking({
    item,
    total: 'total_ops',
    length: ({ chain }) => chain.otherRankings ?? 0,
    drawRank(world, ordinal, random) {
      const { lived, otherRankings: length = 0 } = world.chain;
      const even = evenRank(item, world, ordinal, random);
      if (!lived) return even;
      const first = part / (1 + Math.log(length));
      return { ...even, count: 0, perOperation: first / (length - ordinal) };
    },
    ...(drawTraits && { drawTraits }),
  });

/** Operations in a bundle of one bundler, at most. */
const largestBundle = 4;
/** Of all operations, those that somebody else pays for. */
const sponsored = 0.6;

/** The ranked lists by their names. */
export const rankings = {
  /** The wallet factories, most accounts first. */
  factories: ranking({
    item: 'factory',
    total: 'total_accounts',
    length: ({ chain }) => chain.factories,
    drawRank: factoryRank,
    drawTraits({ chain }, random) {
      const hasExtra = chain.generation === 'v12' && random.oneIn(4);
      return { extra: hasExtra ? { verified_deployments: random.below(50) } : null };
    },
  }),
  bundlers: byOperations('bundler', 1, (_world, random) => {
    const bundleSize = 1 + random.below(largestBundle);
    return { countsBeside: (count) => ({ total_bundles: Math.ceil(count / bundleSize) }) };
  }),
  paymasters: byOperations('paymaster', sponsored),
};

export type RankingName = keyof typeof rankings;
export const rankingNames = Object.keys(rankings) as RankingName[];
