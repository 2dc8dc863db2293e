import { refuseParameters, type Answer } from './answer.ts';
import { batchRange } from './batches.ts';
import { blockAt } from './blocks.ts';
import type { World } from './chain.ts';
import { addCopies, pageEventsAt, wrapPage } from './oddities.ts';
import { pageLimit, readParameters } from './parameters.ts';
import { renderBlock } from './render-block.ts';

/** Where v12 stops to grow a page, however large an `items_count` is asked for. */
const clampedLimit = 100;

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
  const lowest = Math.max(range.lowest, highest - pageSizeOf(world, asked) + 1);
  const heights = Array.from({ length: highest - lowest + 1 }, (_, place) => highest - place);
  const above = highest < range.highest ? blockAt(world, highest + 1, atMs) : undefined;
  const blocks = addCopies(
    heights.map((height) => blockAt(world, height, atMs)),
    above,
    pageEventsAt(world, highest),
  );
  const items = blocks.map((block) => renderBlock(world, block, withSecretKey));
  const next = lowest > range.lowest ? cursorOf(world, lowest, heights.length) : null;
  return { status: 200, body: wrapPage(world, items, next, key), items: items.length };
}

function pageSizeOf(world: World, asked: number | undefined): number {
  if (world.chain.generation !== 'v12') return pageLimit;
  return Math.min(asked ?? pageLimit, clampedLimit);
}

function cursorOf(world: World, lowest: number, served: number): Record<string, number> {
  if (world.chain.generation === 'v12') return { block_number: lowest };
  return { block_number: lowest, items_count: served };
}
