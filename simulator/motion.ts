import { firstHeight, itemsPerRung, type Ladder } from './ladder.ts';
import type { Draw, Random } from './random.ts';

/**
 * How a chain moves with the simulated clock. Whatever is absent rests, but for the head, which
 * always grows. Times are simulated milliseconds.
 */
export interface Motion {
  /** Operations that enter new blocks; above 0. History is as dense. */
  readonly operationsPerMinute: number;
  /** Time between blocks; 2 if absent, as on Optimism chains. */
  readonly blockSeconds?: number;
  /** Operations that enter the list after their block did, of all. */
  readonly latePercent?: number;
  /** The most that one is late; 20 hours if absent. Most are late by far less. */
  readonly latestLateMs?: number;
  /** Operations that leave the list again, of all; none of them is late. */
  readonly orphanedPercent?: number;
  /** When they leave, at least and at most, after they entered; 6 to 15 minutes if absent. */
  readonly orphanedAfterMs?: readonly [number, number];
  /** Of those that left, how many return in a higher block; 50 if absent. */
  readonly reincludedPercent?: number;
  /** When they return, at least and at most, after they left; 10 s to 4 minutes if absent. */
  readonly reincludedAfterMs?: readonly [number, number];
  /** Reorganisations, evenly spread from the start on, each 1 to 10 blocks deep at the head. */
  readonly reorgsPerDay?: number;
  /** How long new blocks say `is_pending_update`; 10 minutes if absent. */
  readonly pendingMs?: number;
  /**
   * Batches with an odd fate, up to 50: half imported, trading blocks at a border, vanishing, or
   * reusing a number. Each is over before the newest of its blocks stops to be pending.
   */
  readonly oddBatchesPercent?: number;
  /** How often the count of a factory changes, so that ranks change. */
  readonly factoryChangeMs?: number;
  /** Factories that are not listed for 12 hours of every 48. */
  readonly absentFactoriesPercent?: number;
  /** Factories that enter the list at some time of the first week. */
  readonly newFactoriesPercent?: number;
}

/** A motion with nothing left open, and where on the chain it began. */
export interface Course extends Required<Motion> {
  readonly draw: Draw;
  readonly blockMs: number;
  /** The newest height at the start. */
  readonly headAtStart: number;
  /** The lowest height that holds operations. */
  readonly operationsFloor: number;
  /** The lowest height that a batch holds. */
  readonly batchesFloor: number;
}

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

const resting: Required<Omit<Motion, 'operationsPerMinute'>> = {
  blockSeconds: 2,
  latePercent: 0,
  latestLateMs: 20 * 60 * minuteMs,
  orphanedPercent: 0,
  // Longer than the five minutes in which a list is usually read again: an orphan can be seen.
  orphanedAfterMs: [6 * minuteMs, 15 * minuteMs],
  reincludedPercent: 50,
  reincludedAfterMs: [10_000, 4 * minuteMs],
  reorgsPerDay: 0,
  pendingMs: 10 * minuteMs,
  oddBatchesPercent: 0,
  factoryChangeMs: Infinity,
  absentFactoriesPercent: 0,
  newFactoriesPercent: 0,
};

/**
 * Sets the motion of a chain on its history, which ends at the head of the start. Throws a
 * RangeError if no operations are made.
 *
 * @param operations how many its history holds
 * @param batchBlocks how many blocks the batches of its history hold
 */
export function planCourse(
  motion: Motion,
  operations: number,
  batchBlocks: number,
  draw: Draw,
): Course {
  const complete = { ...resting, ...motion };
  const { operationsPerMinute, blockSeconds } = complete;
  if (!(operationsPerMinute > 0)) throw new RangeError('operationsPerMinute must be above 0');
  const blockMs = Math.round(blockSeconds * 1000);
  const operationBlocks = Math.ceil((operations * minuteMs) / (operationsPerMinute * blockMs));
  const above = firstHeight + Math.max(operationBlocks, batchBlocks);
  return {
    ...complete,
    draw,
    blockMs,
    headAtStart: above - 1,
    operationsFloor: above - operationBlocks,
    batchesFloor: above - batchBlocks,
  };
}

/** The newest height at a time. */
export function headAt(course: Course, atMs: number): number {
  return course.headAtStart + Math.floor(atMs / course.blockMs);
}

/** When a height appeared on the chain; below 0 for history. */
export function minedAtMs(course: Course, height: number): number {
  return (height - course.headAtStart) * course.blockMs;
}

/**
 * Which operations are first made in which block: rung after rung, evenly spread with some jitter,
 * so that both directions are known at once and blocks hold ties.
 */
export function courseLadder({
  operationsPerMinute,
  blockMs,
  operationsFloor,
  draw,
}: Course): Ladder {
  const rungsPerBlock = (operationsPerMinute * blockMs) / minuteMs / itemsPerRung;
  const rungsBelow = (height: number) => {
    const place = height - operationsFloor;
    if (place <= 0) return 0;
    const jitter = draw('user-operation-rung', place).below(1000) / 1000;
    return Math.floor(rungsPerBlock * (place + jitter));
  };
  const valueOf = (rung: number) => {
    let height = operationsFloor + Math.ceil((rung + 1) / rungsPerBlock) + 1;
    // At most four steps: the jitter is below one block.
    while (rungsBelow(height) > rung) height -= 1;
    return height;
  };
  return { valueOf, rungsBelow };
}

/** When an operation enters the list, leaves it, and returns; Infinity for never. */
interface Life {
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

/** The least that an operation can be late: the explorer takes longer to look again. */
const leastLateMs = 5000;

/** The life of an operation that was made in this block. */
function lifeOf(course: Course, ordinal: number, blockNumber: number): Life {
  const random = course.draw('user-operation-life', ordinal);
  const fate = drawFate(course, random);
  const minedMs = minedAtMs(course, blockNumber);
  const steady = { entersAtMs: minedMs, leavesAtMs: Infinity, returnsAtMs: Infinity };
  if (fate === 'steady') return steady;
  if (fate === 'late') {
    // Cubed: one in two is late by less than an eighth of the most.
    const part = (random.below(1_000_000) / 1_000_000) ** 3;
    const lateMs = Math.max(leastLateMs, Math.floor(part * course.latestLateMs));
    return { ...steady, entersAtMs: minedMs + lateMs };
  }
  const leavesAtMs = minedMs + between(random, course.orphanedAfterMs);
  const returns = random.below(100_000) < course.reincludedPercent * 1000;
  const delayMs = between(random, course.reincludedAfterMs);
  return { ...steady, leavesAtMs, returnsAtMs: returns ? leavesAtMs + delayMs : Infinity };
}

/** How many blocks above its first one an operation can return at most. */
export function longestReturn(course: Course): number {
  const longestMs = course.orphanedAfterMs[1] + course.reincludedAfterMs[1];
  return course.orphanedPercent > 0 ? Math.ceil(longestMs / course.blockMs) + 1 : 0;
}

/**
 * What has become at a time of an operation that was made in this block; null if it was never on
 * the list since time 0.
 */
export function whereaboutsAt(
  course: Course,
  ordinal: number,
  blockNumber: number,
  atMs: number,
): Whereabouts | null {
  const life = lifeOf(course, ordinal, blockNumber);
  if (life.returnsAtMs <= atMs) {
    return { leftAtMs: null, edition: 1, blockNumber: headAt(course, life.returnsAtMs) };
  }
  if (life.entersAtMs > atMs) return null;
  if (life.leavesAtMs > atMs) return { leftAtMs: null, edition: 0, blockNumber };
  return life.leavesAtMs > 0 ? { leftAtMs: life.leavesAtMs, edition: 0, blockNumber } : null;
}

/** Whether an operation leaves the list at some time. */
export function isOrphaned(course: Course, ordinal: number): boolean {
  return drawFate(course, course.draw('user-operation-life', ordinal)) === 'orphaned';
}

function drawFate(course: Course, random: Random): 'late' | 'orphaned' | 'steady' {
  const percent = random.below(100_000) / 1000;
  if (percent < course.latePercent) return 'late';
  return percent < course.latePercent + course.orphanedPercent ? 'orphaned' : 'steady';
}

function between(random: Random, [least, most]: readonly [number, number]): number {
  return least + random.below(Math.max(1, most - least));
}

/** A reorganisation: at its time the heights of its range get other hashes. */
export interface Reorg {
  readonly atMs: number;
  readonly lowest: number;
  readonly highest: number;
}

/** How deep one reaches at most, blocks. */
const deepest = 10;

/** All reorganisations of a span of time, both ends included, oldest first. */
export function reorgsBetween(course: Course, fromMs: number, toMs: number): readonly Reorg[] {
  if (course.reorgsPerDay <= 0) return [];
  const everyMs = dayMs / course.reorgsPerDay;
  const first = Math.max(0, Math.floor(fromMs / everyMs));
  const count = Math.max(0, Math.floor(toMs / everyMs) - first + 1);
  const reorgs = Array.from({ length: count }, (_, place): Reorg => {
    const random = course.draw('reorg', first + place);
    const atMs = Math.floor(everyMs * (first + place + random.below(1000) / 1000));
    const highest = headAt(course, atMs);
    return { atMs, lowest: highest - random.below(deepest), highest };
  });
  return reorgs.filter(({ atMs }) => atMs >= fromMs && atMs <= toMs);
}

/** The reorganisations until a time that replaced the block at a height, oldest first. */
export function reorgsOf(course: Course, height: number, atMs: number): readonly Reorg[] {
  const minedMs = minedAtMs(course, height);
  // One block later the head is one higher, and `deepest` blocks later out of reach.
  const untilMs = Math.min(atMs, minedMs + deepest * course.blockMs);
  return reorgsBetween(course, minedMs, untilMs).filter(
    ({ lowest, highest }) => height >= lowest && height <= highest,
  );
}
