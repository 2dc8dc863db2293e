import { fateOf, lowerSlot, type Fate } from './batch-fate.ts';
import { blocksBefore, slotAtPlace } from './batch-size.ts';
import { firstHeight, type World } from './chain.ts';
import { headAt, minedAtMs, type Course } from './motion.ts';
import { numberOf, slotOf, slotsBefore } from './numbering.ts';

/** The heights of a batch, both ends included. */
export interface HeightRange {
  readonly lowest: number;
  readonly highest: number;
}

/**
 * The heights that a batch shows at a time, or null where it shows none: a hole, a number below or
 * above, one that has vanished.
 */
export function batchRange(world: World, number: number, atMs: number): HeightRange | null {
  const { course, numbering, chain } = world;
  const { first, count } = chain.batches;
  if (course === null && number >= first + count) return null;
  const slot = slotOf(numbering, number);
  if (slot === null) return null;
  const range = course === null ? rangeOfSlot(world, slot) : rangeAt(world, course, slot, atMs);
  return range === null || range.highest < range.lowest ? null : range;
}

/** The highest number that shows blocks at a time; below the first if none does. */
export function newestNumber(world: World, atMs: number): number {
  const { course, numbering, chain } = world;
  const { first, count } = chain.batches;
  if (course === null) return first + count - 1;
  const head = headAt(course, atMs);
  if (head < course.batchesFloor) return first - 1;
  const slot = slotAtPlace(chain.batches.blocks, head - course.batchesFloor);
  const above = slot + 1;
  const shown = rangeAt(world, course, above, atMs);
  return numberOf(numbering, shown.highest < shown.lowest ? slot : above);
}

/** The lowest height of the newest batch of a chain that rests. */
export function newestBatchFloor(world: World): number {
  const { first, count } = world.chain.batches;
  return rangeOfSlot(world, slotsBefore(world.numbering, first + count) - 1).lowest;
}

/** When the explorer came to list a block: when it was mined, or later in a half-imported batch. */
export function listedAtMs(world: World, course: Course, height: number): number {
  const mined = minedAtMs(course, height);
  if (height < course.batchesFloor) return mined;
  const slot = slotAtPlace(world.chain.batches.blocks, height - course.batchesFloor);
  const fate = fateOf(world, course, slot);
  const isHeldBack =
    fate?.kind === 'half-imported' &&
    slot === lowerSlot(slot) &&
    height > middleOf(rangeOfSlot(world, slot));
  return isHeldBack ? Math.max(mined, fate.turnsAtMs) : mined;
}

function rangeAt(world: World, course: Course, slot: number, atMs: number): HeightRange {
  const fate = fateOf(world, course, slot);
  const range = fate === null ? rangeOfSlot(world, slot) : fatedRange(world, slot, fate, atMs);
  return { lowest: range.lowest, highest: Math.min(range.highest, headAt(course, atMs)) };
}

function fatedRange(world: World, slot: number, fate: Fate, atMs: number): HeightRange {
  const isLower = slot === lowerSlot(slot);
  const own = rangeOfSlot(world, slot);
  const hasTurned = atMs >= fate.turnsAtMs;
  const both = () => ({ ...own, lowest: rangeOfSlot(world, slot - 1).lowest });
  const nothing = { lowest: own.lowest, highest: own.lowest - 1 };
  switch (fate.kind) {
    case 'half-imported':
      return isLower && !hasTurned ? { ...own, highest: middleOf(own) } : own;
    case 'traded':
      if (!hasTurned) return own;
      return isLower
        ? { ...own, highest: own.highest - fate.blocks }
        : { ...own, lowest: own.lowest - fate.blocks };
    case 'vanished':
      if (!hasTurned) return own;
      return isLower ? nothing : both();
    case 'reused':
      if (hasTurned) return own;
      return isLower ? nothing : both();
  }
}

function middleOf({ lowest, highest }: HeightRange): number {
  return Math.floor((lowest + highest) / 2);
}

function rangeOfSlot(world: World, slot: number): HeightRange {
  const { blocks } = world.chain.batches;
  const floor = (world.course ?? world.lived?.timetable)?.batchesFloor ?? firstHeight;
  return {
    lowest: floor + blocksBefore(blocks, slot),
    highest: floor + blocksBefore(blocks, slot + 1) - 1,
  };
}
