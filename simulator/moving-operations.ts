import type { World } from './chain.ts';
import { partnerOf } from './disorder.ts';
import { headAt, type Course } from './motion.ts';
import { firstOrdinalOf, heightOfOrdinal } from './operation-blocks.ts';
import {
  isOrphaned,
  lifeOf,
  longestReturn,
  whereaboutsAt,
  type Whereabouts,
} from './operation-life.ts';
import { drawUserOperation, operationHash, type UserOperation } from './user-operations.ts';

/** Where a page begins: at the item that stands here, or at the next one below. */
export interface OperationPosition {
  readonly blockNumber: number;
  readonly hash: string;
}

/** An operation on the list, without its other facts. */
interface Entry extends Whereabouts {
  readonly ordinal: number;
  readonly hash: string;
}

/** Looked through at first for a page: what a page needs at the usual density, and some more. */
const slack = 1.2;
const leastSpan = 4;

/** The operations on the list at a time from a position downward, or from the head; `length` at most. */
export function operationsBelow(
  world: World,
  course: Course,
  position: OperationPosition | null,
  length: number,
  atMs: number,
): UserOperation[] {
  const head = headAt(course, atMs);
  const found: Entry[] = [];
  let highest = Math.min(position?.blockNumber ?? head, head);
  while (found.length < length && highest >= course.operationsFloor) {
    const lowest = Math.max(course.operationsFloor, highest - spanOf(course, length));
    const entries = entriesBetween(world, course, lowest, highest, atMs);
    found.push(...entries.filter((entry) => position === null || !isAbove(entry, position)));
    highest = lowest - 1;
  }
  return found.slice(0, length).map((entry) => operationOf(world, entry));
}

/** The operation that stands just above a position at a time. */
export function operationAbove(
  world: World,
  course: Course,
  position: OperationPosition,
  atMs: number,
): UserOperation | undefined {
  const head = headAt(course, atMs);
  for (let lowest = position.blockNumber; lowest <= head;) {
    const highest = Math.min(head, lowest + spanOf(course, 1));
    const above = entriesBetween(world, course, lowest, highest, atMs).findLast((entry) =>
      isAbove(entry, position),
    );
    if (above !== undefined) return operationOf(world, above);
    lowest = highest + 1;
  }
  return undefined;
}

/** What is served in the place of an operation: itself, or another under disorder. */
export function operationServed(
  world: World,
  course: Course,
  operation: UserOperation,
  atMs: number,
): UserOperation {
  const { ordinal } = operation;
  const partner = partnerOf(world.chain.disorder, world.streams.disorder, ordinal, atMs);
  if (partner === ordinal || operation.edition !== 0) return operation;
  const other = entryAt(world, course, partner, atMs);
  // Only what stands where it was made trades, so that the partner does the same.
  return other?.leftAtMs === null && other.edition === 0 ? operationOf(world, other) : operation;
}

/** An operation that was seen, and when it left the list; null while it is on it. */
export interface SeenOperation {
  readonly operation: UserOperation;
  readonly leftAtMs: number | null;
}

/** Every operation that anyone has seen on the list until a time, newest first. */
export function operationsSeen(world: World, course: Course, atMs: number): SeenOperation[] {
  const count = firstOrdinalOf(world, course, headAt(course, atMs) + 1);
  return Array.from({ length: count }, (_, ordinal) => entryAt(world, course, ordinal, atMs))
    .filter((entry) => entry !== null)
    .sort(newestFirst)
    .map((entry) => ({ operation: operationOf(world, entry), leftAtMs: entry.leftAtMs }));
}

function spanOf(course: Course, length: number): number {
  const perBlock = (course.operationsPerMinute * course.blockMs) / 60_000;
  return Math.ceil((length * slack) / perBlock) + leastSpan;
}

/** What is listed at a time in a range of blocks, both ends included, newest first. */
function entriesBetween(
  world: World,
  course: Course,
  lowest: number,
  highest: number,
  atMs: number,
): Entry[] {
  const entries: Entry[] = [];
  // What returned stands above the block where it was first made.
  const from = firstOrdinalOf(world, course, lowest - longestReturn(course));
  const own = firstOrdinalOf(world, course, lowest);
  const end = firstOrdinalOf(world, course, highest + 1);
  for (let ordinal = from; ordinal < end; ordinal += 1) {
    if (ordinal < own && !isOrphaned(world, course, ordinal)) continue;
    const entry = entryAt(world, course, ordinal, atMs);
    if (entry?.leftAtMs !== null) continue;
    if (entry.blockNumber >= lowest && entry.blockNumber <= highest) entries.push(entry);
  }
  return entries.sort(newestFirst);
}

function entryAt(world: World, course: Course, ordinal: number, atMs: number): Entry | null {
  const made = heightOfOrdinal(world, course, ordinal);
  const life = lifeOf(world, course, ordinal, made);
  const whereabouts = whereaboutsAt(course, life, made, atMs);
  return whereabouts && { ...whereabouts, ordinal, hash: operationHash(world, ordinal) };
}

function operationOf(world: World, entry: Entry): UserOperation {
  return drawUserOperation(world, entry.ordinal, entry);
}

function newestFirst(left: Entry, right: Entry): number {
  return isAbove(left, right) ? -1 : 1;
}

function isAbove(entry: OperationPosition, position: OperationPosition): boolean {
  if (entry.blockNumber !== position.blockNumber) return entry.blockNumber > position.blockNumber;
  return entry.hash > position.hash;
}
