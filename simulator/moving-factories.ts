import type { World } from './chain.ts';
import { countRise, countSpread, factoryStateAt } from './factory-life.ts';
import { factoryAt, seekFactory, type Factory } from './factories.ts';
import type { Course } from './motion.ts';

/** Where a page begins: at the factory that stands here, or at the next one below. */
export interface FactoryPosition {
  readonly totalAccounts: number;
  readonly addressHash: string;
}

/** A factory that was seen, and since when it is missing; null while it is listed. */
export interface SeenFactory {
  readonly factory: Factory;
  readonly missingSinceMs: number | null;
}

/** Counts are looked through in steps that hold a page as a rule: three factories a rung of 29. */
const countsPerFactory = 12;
/** Above every address, so that seeking finds the highest factory of a count. */
const aboveAll = '~';

/** The listed factories at a time from a position downward, or from the top; `length` at most. */
export function factoriesBelow(
  world: World,
  course: Course,
  position: FactoryPosition | null,
  length: number,
  atMs: number,
): Factory[] {
  const top = highestCount(world);
  const found: Factory[] = [];
  let highest = Math.min(position?.totalAccounts ?? top, top);
  while (found.length < length && highest > 0) {
    const lowest = Math.max(1, highest - length * countsPerFactory);
    const factories = factoriesBetween(world, course, lowest, highest, atMs);
    found.push(...factories.filter((factory) => position === null || !isAbove(factory, position)));
    highest = lowest - 1;
  }
  return found.slice(0, length);
}

/** The listed factory that stands just above a position at a time. */
export function factoryAbove(
  world: World,
  course: Course,
  position: FactoryPosition,
  atMs: number,
): Factory | undefined {
  const top = highestCount(world);
  for (let lowest = position.totalAccounts; lowest <= top; lowest += countsPerFactory) {
    const highest = lowest + countsPerFactory - 1;
    const above = factoriesBetween(world, course, lowest, highest, atMs).findLast((factory) =>
      isAbove(factory, position),
    );
    if (above !== undefined) return above;
  }
  return undefined;
}

/** Every factory that anyone has seen until a time, most accounts first. */
export function factoriesSeen(world: World, course: Course, atMs: number): SeenFactory[] {
  return Array.from({ length: world.chain.factories }, (_, ordinal): SeenFactory[] => {
    const state = factoryStateAt(world, course, ordinal, atMs);
    if (state.kind === 'unseen') return [];
    // The last that anyone could read of a missing one.
    const missingSinceMs = state.kind === 'missing' ? state.sinceMs : null;
    const readMs = missingSinceMs === null ? atMs : missingSinceMs - 1;
    return [{ factory: countedAt(world, course, ordinal, readMs), missingSinceMs }];
  })
    .flat()
    .sort((left, right) => mostFirst(left.factory, right.factory));
}

function highestCount(world: World): number {
  const { factories } = world.chain;
  return factories === 0 ? 0 : factoryAt(world, factories - 1).totalAccounts + countSpread;
}

/** The listed factories whose count is in a range, both ends included, most accounts first. */
function factoriesBetween(
  world: World,
  course: Course,
  lowest: number,
  highest: number,
  atMs: number,
): Factory[] {
  const from = seekFactory(world, lowest - countSpread - 1, aboveAll) + 1;
  const to = Math.min(seekFactory(world, highest, aboveAll), world.chain.factories - 1);
  return Array.from({ length: Math.max(0, to - from + 1) }, (_, place) => from + place)
    .filter((ordinal) => factoryStateAt(world, course, ordinal, atMs).kind === 'listed')
    .map((ordinal) => countedAt(world, course, ordinal, atMs))
    .filter(({ totalAccounts }) => totalAccounts >= lowest && totalAccounts <= highest)
    .sort(mostFirst);
}

function countedAt(world: World, course: Course, ordinal: number, atMs: number): Factory {
  const factory = factoryAt(world, ordinal);
  const rise = countRise(world, course, ordinal, atMs);
  return { ...factory, totalAccounts: factory.totalAccounts + rise };
}

function mostFirst(left: FactoryPosition, right: FactoryPosition): number {
  return isAbove(left, right) ? -1 : 1;
}

function isAbove(factory: FactoryPosition, position: FactoryPosition): boolean {
  if (factory.totalAccounts !== position.totalAccounts) {
    return factory.totalAccounts > position.totalAccounts;
  }
  return factory.addressHash > position.addressHash;
}
