import { refuseParameters, type Answer } from './answer.ts';
import { batchRange } from './batches.ts';
import { blockAt } from './blocks.ts';
import type { World } from './chain.ts';
import { addCopies, pageEventsAt, wrapPage } from './oddities.ts';
import { countedCursor, countedSize, readParameters } from './parameters.ts';
import { renderBlock } from './render-block.ts';

/** When a batch is read, and whether by the owner of its labels. */
interface BatchReading {
  readonly atMs: number;
  readonly withSecretKey: boolean;
}

/** A page of the blocks of a batch, heights descending. */
export function answerBatch(
  world: World,
  batch: string,
  query: URLSearchParams,
  { atMs, withSecretKey }: BatchReading,
): Answer {
  const parameters = readParameters(query, ['block_number', 'items_count']);
  const before = parameters.integer('block_number', 0, Number.MAX_SAFE_INTEGER);
  const asked = parameters.integer('items_count', 1, Number.MAX_SAFE_INTEGER);
  const problems = /^\d{1,15}$/.test(batch)
    ? parameters.problems
    : [...parameters.problems, { name: 'batch_number_param', detail: 'Invalid integer' }];
  if (problems.length > 0) return refuseParameters(problems);

  const key = parameters.text('key');
  const range = batchRange(world, Number(batch), atMs);
  // A cursor of 0 is read as no cursor.
  const highest = Math.min(range?.highest ?? -1, before ? before - 1 : Number.MAX_SAFE_INTEGER);
  if (range === null || highest < range.lowest) {
    return { status: 200, body: wrapPage(world, [], null, key), items: 0 };
  }
  const lowest = Math.max(range.lowest, highest - countedSize(world.chain.generation, asked) + 1);
  const heights = Array.from({ length: highest - lowest + 1 }, (_, place) => highest - place);
  const above = highest < range.highest ? blockAt(world, highest + 1, atMs) : undefined;
  const blocks = addCopies(
    heights.map((height) => blockAt(world, height, atMs)),
    above,
    pageEventsAt(world, highest),
  );
  const items = blocks.map((block) => renderBlock(world, block, withSecretKey));
  const next =
    lowest > range.lowest
      ? countedCursor(world.chain.generation, { block_number: lowest }, heights.length)
      : null;
  return { status: 200, body: wrapPage(world, items, next, key), items: items.length };
}
