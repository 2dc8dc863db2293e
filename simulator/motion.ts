import { firstHeight, itemsPerRung, type Ladder } from './places.ts';
import type { Draw, Random } from './random.ts';

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

/** Whatever a motion does not name rests, but for the head, which always grows. Simulated ms. */
const resting = {
  /** Time between blocks. */
  blockSeconds: 2,
  /** Operations that enter the list after their block did, of all. */
  latePercent: 0,
  /** The most that one is late. Most are late by far less. */
  latestLateMs: 20 * 60 * minuteMs,
  /** Operations that leave the list again, of all; none of them is late. */
  orphanedPercent: 0,
  /**
   * When they leave, at least and at most, after they entered: longer than the five minutes in which
   * a list is usually polled, so that an orphan can be seen.
   */
  orphanedAfterMs: [6 * minuteMs, 15 * minuteMs] as readonly [number, number],
  /** Of those that left, how many return in a higher block. */
  reincludedPercent: 50,
  /** Reorganisations, evenly spread from the start on, each 1 to 10 blocks deep at the head. */
  reorgsPerDay: 0,
  /** How long new blocks say `is_pending_update`. */
  pendingMs: 10 * minuteMs,
  /**
   * Batches with an odd fate, up to 50: half imported, trading blocks at a border, vanishing, or
   * reusing a number. Each is over before the newest of its blocks stops to be pending.
   */
  oddBatchesPercent: 0,
  /** How often the count of a ranked item changes, so that ranks change. */
  factoryChangeMs: Infinity,
  /** Ranked items that are not listed for 12 hours of every 48. */
  absentFactoriesPercent: 0,
  /** Ranked items that enter the list at some time of the first week. */
  newFactoriesPercent: 0,
};

/** How a chain moves with the simulated clock. */
export interface Motion extends Partial<Readonly<typeof resting>> {
  /** Operations that enter new blocks; above 0. History is as dense. */
  readonly operationsPerMinute: number;
}

/** A motion with nothing left open, and where on the chain it began; of one that rests, too. */
export type Course = ReturnType<typeof planCourse>;

/** When they return, at least and at most, after they left. */
const reincludedAfterMs = [10_000, 4 * minuteMs] as const;

/**
 * Sets the motion of a chain on its history, which ends at the head of the start. Throws a
 * RangeError if no operations are made.
 *
 * @param motion null: it rests, and what it holds has always been there
 */
export function planCourse(
  motion: Motion | null,
  history: { readonly bottom: number; readonly operations: number; readonly batchBlocks: number },
  draw: Draw,
) {
  const complete: Required<Motion> = { ...resting, operationsPerMinute: Infinity, ...motion };
  const { operationsPerMinute, blockSeconds } = complete;
  if (!(operationsPerMinute > 0)) throw new RangeError('operationsPerMinute must be above 0');
  const blockMs = Math.round(blockSeconds * 1000);
  const minutes = history.operations * minuteMs;
  const operationBlocks = Math.ceil(minutes / (operationsPerMinute * blockMs));
  const above = history.bottom + Math.max(operationBlocks, history.batchBlocks);
  return {
    ...complete,
    draw,
    blockMs,
    rests: motion === null,
    /** The height that is mined when the clock starts. */
    origin: motion === null ? firstHeight : above,
    /** The newest height at the start. */
    headAtStart: above - 1,
    /** The lowest heights that hold operations, and batches. */
    operationsBottom: above - operationBlocks,
    batchesBottom: above - history.batchBlocks,
  };
}

/** The newest height at a time. */
export const headAt = ({ rests, headAtStart, blockMs }: Course, atMs: number): number =>
  headAtStart + (rests ? 0 : Math.floor(atMs / blockMs));

/** When a height appeared on the chain; below 0 for history. */
export const minedAtMs = ({ rests, headAtStart, blockMs }: Course, height: number): number =>
  rests ? -Infinity : (height - headAtStart) * blockMs;

/**
 * Which operations are first made in which block: rung after rung, evenly spread with some jitter,
 * so that both directions are known at once and blocks hold ties.
 */
export function courseLadder(course: Course): Ladder {
  const { operationsPerMinute, blockMs, operationsBottom, draw } = course;
  const rungsPerBlock = (operationsPerMinute * blockMs) / minuteMs / itemsPerRung;
  const rungsBelow = (height: number) => {
    const place = height - operationsBottom;
    if (place <= 0) return 0;
    const jitter = draw('user-operation-rung', place).below(1000) / 1000;
    return Math.floor(rungsPerBlock * (place + jitter));
  };
  const valueOf = (rung: number) => {
    let height = operationsBottom + Math.ceil((rung + 1) / rungsPerBlock) + 1;
    // At most four steps: the jitter is below one block.
    while (rungsBelow(height) > rung) height -= 1;
    return height;
  };
  return { valueOf, rungsBelow };
}

/** What has become of an operation: its place on the chain, and whether it is on the list. */
export interface Whereabouts {
  /** When it left the list; null while it is on it. */
  readonly leftAtMs: number | null;
  /** 1 once it has returned: the same operation, mostly in another transaction. */
  readonly edition: 0 | 1;
  readonly blockNumber: number;
}

/** The least that an operation can be late: the explorer takes longer to index again. */
const leastLateMs = 5000;

/** When an operation of this block enters the list, leaves it, and returns; Infinity for never. */
function lifeOf(course: Course, ordinal: number, blockNumber: number) {
  const random = course.draw('user-operation-life', ordinal);
  const fate = drawFate(course, random);
  // Cubed: one in two is late by less than an eighth of the most.
  const part = fate === 'late' ? (random.below(1_000_000) / 1_000_000) ** 3 : 0;
  const lateMs = Math.max(
    fate === 'late' ? leastLateMs : 0,
    Math.floor(part * course.latestLateMs),
  );
  const entersAtMs = minedAtMs(course, blockNumber) + lateMs;
  if (fate !== 'orphaned') return { entersAtMs, leavesAtMs: Infinity, returnsAtMs: Infinity };
  const leavesAtMs = entersAtMs + between(random, course.orphanedAfterMs);
  const returns = random.below(100_000) < course.reincludedPercent * 1000;
  const delayMs = between(random, reincludedAfterMs);
  return { entersAtMs, leavesAtMs, returnsAtMs: returns ? leavesAtMs + delayMs : Infinity };
}

function drawFate(course: Course, random: Random): 'late' | 'orphaned' | 'steady' {
  const percent = random.below(100_000) / 1000;
  if (percent < course.latePercent) return 'late';
  return percent < course.latePercent + course.orphanedPercent ? 'orphaned' : 'steady';
}

const between = (random: Random, [least, most]: readonly [number, number]): number =>
  least + random.below(Math.max(1, most - least));

/** Whether an operation leaves the list at some time. */
export const isOrphaned = (course: Course, ordinal: number): boolean =>
  drawFate(course, course.draw('user-operation-life', ordinal)) === 'orphaned';

/** How many blocks above its first one an operation can return at most. */
export function longestReturn({ orphanedPercent, orphanedAfterMs, blockMs }: Course): number {
  const longestMs = orphanedAfterMs[1] + reincludedAfterMs[1];
  return orphanedPercent > 0 ? Math.ceil(longestMs / blockMs) + 1 : 0;
}

/** Where an operation that was made in this block was seen from time 0 until a time, the newest last. */
export function sightingsUntil(
  course: Course,
  ordinal: number,
  blockNumber: number,
  atMs: number,
): readonly Whereabouts[] {
  const life = lifeOf(course, ordinal, blockNumber);
  const found: Whereabouts[] = [];
  const leftAtMs = life.leavesAtMs > atMs ? null : life.leavesAtMs;
  if (life.entersAtMs <= atMs && (leftAtMs === null || leftAtMs > 0)) {
    found.push({ leftAtMs, edition: 0, blockNumber });
  }
  if (life.returnsAtMs <= atMs) {
    found.push({ leftAtMs: null, edition: 1, blockNumber: headAt(course, life.returnsAtMs) });
  }
  return found;
}

/** How deep one reaches at most, blocks. */
const deepest = 10;

/**
 * All reorganisations of a span of time, both ends included, oldest first: at its time the heights of
 * its range get other hashes.
 */
export function reorgsBetween(course: Course, fromMs: number, toMs: number) {
  if (course.reorgsPerDay <= 0) return [];
  const everyMs = dayMs / course.reorgsPerDay;
  const first = Math.max(0, Math.floor(fromMs / everyMs));
  const length = Math.max(0, Math.floor(toMs / everyMs) - first + 1);
  return Array.from({ length }, (_, place) => {
    const random = course.draw('reorg', first + place);
    const atMs = Math.floor(everyMs * (first + place + random.below(1000) / 1000));
    const highest = headAt(course, atMs);
    return { atMs, lowest: highest - random.below(deepest), highest };
  }).filter(({ atMs }) => atMs >= fromMs && atMs <= toMs);
}

/** The reorganisations until a time that replaced the block at a height, oldest first. */
export function reorgsOf(course: Course, height: number, atMs: number) {
  const minedMs = minedAtMs(course, height);
  // One block later the head is one higher, and `deepest` blocks later out of reach.
  const untilMs = Math.min(atMs, minedMs + deepest * course.blockMs);
  return reorgsBetween(course, minedMs, untilMs).filter(
    ({ lowest, highest }) => height >= lowest && height <= highest,
  );
}
