import type { Block } from '../../../simulator/blocks.ts';
import type { ScopedBatch } from './batches.ts';

/**
 * The numbers of the batches that the chain verifies whole: heights contiguous and linked by hash,
 * within and to the nearest batches that are not empty, and no block pending. The lowest batch has
 * none below to meet; the highest waits for one above.
 */
export function settledNumbers(batches: readonly ScopedBatch[]): ReadonlySet<number> {
  const full = fullBatches(batches);
  const settled = full.filter(({ blocks }, place) => {
    const [below, above] = [full[place - 1], full[place + 1]];
    return (
      above !== undefined &&
      isChained([
        ...above.blocks.slice(-1),
        ...blocks,
        ...(below === undefined ? [] : below.blocks.slice(0, 1)),
      ]) &&
      blocks.every(({ fields }) => fields.is_pending_update !== true)
    );
  });
  return new Set(settled.map(({ number }) => number));
}

/** The empty numbers between batches that meet, and those below a lowest one that is settled. */
export function verifiedGaps(
  batches: readonly ScopedBatch[],
  settled: ReadonlySet<number>,
): ReadonlySet<number> {
  const full = fullBatches(batches);
  const gaps = batches.filter(({ number }) => !full.some((other) => other.number === number));
  const verified = gaps.filter(({ number }) => {
    const below = full.findLast((other) => other.number < number);
    const above = full.find((other) => other.number > number);
    if (above === undefined) return false;
    if (below === undefined) return settled.has(above.number);
    return isChained([...above.blocks.slice(-1), ...below.blocks.slice(0, 1)]);
  });
  return new Set(verified.map(({ number }) => number));
}

/** Batches with the blocks that can be rows. */
function fullBatches(batches: readonly ScopedBatch[]): ScopedBatch[] {
  return batches
    .map(({ number, blocks }) => ({ number, blocks: blocks.filter((block) => !block.lacksHash) }))
    .filter(({ blocks }) => blocks.length > 0);
}

/** Whether each block, heights descending, stands on the next. */
function isChained(blocks: readonly Block[]): boolean {
  return blocks.every((block, place) => {
    const below = blocks[place + 1];
    if (below === undefined) return true;
    return block.height === below.height + 1 && block.parentHash === below.hash;
  });
}
