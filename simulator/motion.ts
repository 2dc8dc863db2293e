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
export interface Course extends Required<Omit<Motion, 'blockSeconds'>> {
  readonly blockMs: number;
  /** The newest height at the start. */
  readonly headAtStart: number;
  /** The lowest height that holds operations. */
  readonly operationsFloor: number;
  /** The lowest height that a batch holds. */
  readonly batchesFloor: number;
}

const minuteMs = 60_000;

/** Longer than the five minutes in which a list is usually read again: an orphan can be seen. */
const orphanedAfterMs = [6 * minuteMs, 15 * minuteMs] as const;
const reincludedAfterMs = [10_000, 4 * minuteMs] as const;

/** How many blocks the history of a chain takes, and its lowest height. */
interface History {
  readonly lowest: number;
  readonly operations: number;
  readonly batchBlocks: number;
}

/**
 * Sets the motion of a chain on its history, which ends at the head of the start. Throws a
 * RangeError where no operations are made.
 */
export function planCourse(motion: Motion, history: History): Course {
  if (!(motion.operationsPerMinute > 0))
    throw new RangeError('operationsPerMinute must be above 0');
  const blockMs = Math.round((motion.blockSeconds ?? 2) * 1000);
  const operationBlocks = Math.ceil(
    (history.operations * minuteMs) / (motion.operationsPerMinute * blockMs),
  );
  const headAtStart = history.lowest - 1 + Math.max(operationBlocks, history.batchBlocks);
  return {
    operationsPerMinute: motion.operationsPerMinute,
    latePercent: motion.latePercent ?? 0,
    latestLateMs: motion.latestLateMs ?? 20 * 60 * minuteMs,
    orphanedPercent: motion.orphanedPercent ?? 0,
    orphanedAfterMs: motion.orphanedAfterMs ?? orphanedAfterMs,
    reincludedPercent: motion.reincludedPercent ?? 50,
    reincludedAfterMs: motion.reincludedAfterMs ?? reincludedAfterMs,
    reorgsPerDay: motion.reorgsPerDay ?? 0,
    pendingMs: motion.pendingMs ?? 10 * minuteMs,
    oddBatchesPercent: motion.oddBatchesPercent ?? 0,
    factoryChangeMs: motion.factoryChangeMs ?? Infinity,
    absentFactoriesPercent: motion.absentFactoriesPercent ?? 0,
    newFactoriesPercent: motion.newFactoriesPercent ?? 0,
    blockMs,
    headAtStart,
    operationsFloor: headAtStart + 1 - operationBlocks,
    batchesFloor: headAtStart + 1 - history.batchBlocks,
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
