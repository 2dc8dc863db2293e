import { batchBlocks, batchWorld, fullBatch } from '../../harness/batch-world.ts';
import { pageBudget } from '../../harness/runner.ts';

/** Slices that a run of these tests has at most: one that needs more never ends. */
const mostSlices = 50;
/** Three pages a batch. */
export const pages = 3;

/** Where a full batch begins and ends, as it is posted to L1. */
export const postedAs = (place: number) =>
  [1000 + place * batchBlocks, 999 + (place + 1) * batchBlocks] as const;

/** Batches and their list, which is copied before each poll; batches follow each other in blocks, whatever their numbers. */
export async function world(numbers: readonly number[]) {
  const copy = await batchWorld(0, {}, ['optimism-batches']);
  const { list, database } = copy;
  /** Lists batches whose blocks may not be there yet. */
  const state = (used: readonly number[]) => {
    list.listed = used.map((number, place) => ({ number, blocks: postedAs(place) }));
  };
  const index = (...used: readonly number[]) => {
    const listed = list.listed.map(({ number }) => number);
    for (const number of used) list.batches.set(number, fullBatch(listed.indexOf(number)));
  };
  const serve = (used: readonly number[]) => {
    state(used);
    index(...used);
  };
  serve(numbers);
  /** @returns the numbers that were requested */
  const poll = (minute: number) => {
    let slices = 0;
    return copy.poll(minute, 'schedule', () => {
      slices += 1;
      if (slices > mostSlices) throw new Error('the run does not end');
      return pageBudget(10);
    });
  };
  const alsoState = (number: number, blocks: readonly [number, number]) => {
    list.listed = [...list.listed.filter((one) => one.number !== number), { number, blocks }];
  };
  const latestBatch = async () => {
    const rows = await database.query(
      `select latest_batch::int as latest from etl.feeds where kind = 'numbered'`,
    );
    return rows[0]?.latest;
  };
  const open = async () => (await copy.verify()).open;
  return { ...copy, poll, index, state, alsoState, serve, latestBatch, open };
}
