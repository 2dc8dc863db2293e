import { listedAtMs } from '../../../simulator/batches.ts';
import { blockHash } from '../../../simulator/blocks.ts';
import { reorgsBetween, reorgsOf } from '../../../simulator/motion.ts';
import { lacksHash, type World } from '../../../simulator/world.ts';
import type { Row } from './row.ts';
import type { ScopedBatch } from './batches.ts';

/** A row for each hash that was replaced while the explorer listed it. */
export function reorgRows(world: World, batches: readonly ScopedBatch[], atMs: number): Row[] {
  const { course } = world;
  if (course === null) return [];
  const listed = new Set(batches.flatMap(({ blocks }) => blocks.map(({ height }) => height)));
  return reorgsBetween(course, 0, atMs).flatMap((reorg) => {
    const heights = Array.from(
      { length: reorg.highest - reorg.lowest + 1 },
      (_, place) => reorg.lowest + place,
    );
    return heights
      .filter((height) => listed.has(height) && !lacksHash(world, height))
      .filter((height) => listedAtMs(world, course, height) < reorg.atMs)
      .map((height) => {
        const edition = reorgsOf(course, height, reorg.atMs).length;
        return {
          height,
          old_hash: blockHash(world, height, edition - 1),
          new_hash: blockHash(world, height, edition),
        };
      });
  });
}
