import type { World } from './chain.ts';
import { headAt, minedAtMs, type Course } from './motion.ts';
import { Random } from './random.ts';

/** When an operation enters the list, leaves it, and returns; Infinity for never. */
export interface Life {
  readonly entersAtMs: number;
  readonly leavesAtMs: number;
  readonly returnsAtMs: number;
}

/** What has become of an operation: its place on the chain, and whether it is on the list. */
export interface Whereabouts {
  /** When it left the list; null while it is on it. */
  readonly leftAtMs: number | null;
  /** 1 once it has returned: another transaction of the same operation. */
  readonly edition: 0 | 1;
  readonly blockNumber: number;
}

/** Nobody can be late by less: the explorer takes longer to look again. */
const leastLateMs = 5000;

/** The life of an operation that was made in this block. */
export function lifeOf(world: World, course: Course, ordinal: number, blockNumber: number): Life {
  const random = new Random(world.streams['user-operation-life'], ordinal);
  const fate = drawFate(course, random);
  const minedMs = minedAtMs(course, blockNumber);
  if (fate === 'late') {
    // Cubed: one in two is late by less than an eighth of the most.
    const part = (random.below(1_000_000) / 1_000_000) ** 3;
    const lateMs = Math.max(leastLateMs, Math.floor(part * course.latestLateMs));
    return { entersAtMs: minedMs + lateMs, leavesAtMs: Infinity, returnsAtMs: Infinity };
  }
  if (fate === 'steady') {
    return { entersAtMs: minedMs, leavesAtMs: Infinity, returnsAtMs: Infinity };
  }
  const leavesAtMs = minedMs + between(random, course.orphanedAfterMs);
  const returns = random.below(100_000) < course.reincludedPercent * 1000;
  const delayMs = between(random, course.reincludedAfterMs);
  return {
    entersAtMs: minedMs,
    leavesAtMs,
    returnsAtMs: returns ? leavesAtMs + delayMs : Infinity,
  };
}

/** How many blocks above its first one an operation can return at most. */
export function longestReturn(course: Course): number {
  const longestMs = course.orphanedAfterMs[1] + course.reincludedAfterMs[1];
  return course.orphanedPercent > 0 ? Math.ceil(longestMs / course.blockMs) + 1 : 0;
}

/**
 * What has become of an operation at a time; null if nobody who began to watch at time 0 has ever
 * seen it on the list.
 */
export function whereaboutsAt(
  course: Course,
  life: Life,
  blockNumber: number,
  atMs: number,
): Whereabouts | null {
  if (life.returnsAtMs <= atMs) {
    return { leftAtMs: null, edition: 1, blockNumber: headAt(course, life.returnsAtMs) };
  }
  if (life.entersAtMs > atMs) return null;
  if (life.leavesAtMs > atMs) return { leftAtMs: null, edition: 0, blockNumber };
  return life.leavesAtMs > 0 ? { leftAtMs: life.leavesAtMs, edition: 0, blockNumber } : null;
}

/** Whether an operation leaves the list at some time. */
export function isOrphaned(world: World, course: Course, ordinal: number): boolean {
  return drawFate(course, new Random(world.streams['user-operation-life'], ordinal)) === 'orphaned';
}

function drawFate(course: Course, random: Random): 'late' | 'orphaned' | 'steady' {
  const percent = random.below(100_000) / 1000;
  if (percent < course.latePercent) return 'late';
  return percent < course.latePercent + course.orphanedPercent ? 'orphaned' : 'steady';
}

function between(random: Random, [least, most]: readonly [number, number]): number {
  return least + random.below(Math.max(1, most - least));
}
