import { expect, test } from 'vitest';
import type { VerifyDocument } from '../../../src/status/verify.ts';
import { batchBlocks, batchWorld, fullBatch, times } from '../../harness/batch-world.ts';
import { call } from '../../harness/call.ts';

/** Slices that a run of these tests has at most: one that needs more never ends. */
const mostSlices = 50;

/** Full batches 1 to `count` with their list, which also names batches whose blocks are not there yet. */
async function world(count: number, ...early: readonly number[]) {
  const copy = await batchWorld(count, {}, ['optimism-batches']);
  const { list } = copy;
  const postedAs = (number: number) =>
    [1000 + number * batchBlocks, 999 + (number + 1) * batchBlocks] as const;
  const state = (numbers: readonly number[]) => {
    list.stated = new Map(numbers.map((number) => [number, postedAs(number)]));
  };
  const index = (...numbers: readonly number[]) => {
    for (const number of numbers) list.batches.set(number, fullBatch(number));
  };
  state([...list.batches.keys(), ...early]);
  /** @returns the numbers that were requested */
  const poll = (minute: number) => {
    let slices = 0;
    return copy.poll(minute, 'schedule', () => {
      slices += 1;
      if (slices > mostSlices) throw new Error('the run does not end');
      let left = 10;
      return { spent: false, takePage: () => (left -= 1) >= 0 };
    });
  };
  const open = async () => (await copy.verify()).open;
  return { ...copy, poll, index, state, open };
}

const range = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, place) => from + place);

test('a batch that is listed before its blocks are there is requested once a run, and open by name', async () => {
  const { poll, database, open, state, index } = await world(5);
  await poll(0);
  state(range(1, 6));

  for (const minute of [10, 20, 30, 40]) expect(times(await poll(minute), 6)).toBe(1);
  expect(await open()).toEqual(['batch 6: listed, but without blocks']);
  const { stdout } = await call(['verify', '--json'], { env: { DATABASE_URL: database.url } });
  const { feeds } = JSON.parse(stdout) as VerifyDocument;
  expect(feeds.flatMap((feed) => feed.open)).toEqual([
    {
      kind: 'gap',
      place: { unit: 'batches', from: 6, to: 6 },
      sentence: 'listed, but without blocks',
      count: null,
      command: 'explorer-etl sync --chain 10 --operation optimism-batch-blocks',
    },
  ]);
  const { rows } = await database.pool.query(
    `select from_block::int, to_block::int from explorer.gaps`,
  );
  expect(rows).toEqual([{ from_block: 6, to_block: 6 }]);

  index(6);
  expect(times(await poll(50), 6)).toBeGreaterThan(0);
  expect(await open()).toEqual([]);
});

test('of many batches that are listed before their blocks, a run requests a few, and finds all that come', async () => {
  const { poll, open, state, index } = await world(5);
  await poll(0);
  state(range(1, 20));

  for (const minute of [10, 20, 30]) {
    const requested = (await poll(minute)).filter((number) => number > 5);
    expect(new Set(requested).size).toBe(requested.length);
    expect(requested.length).toBeLessThanOrEqual(5);
  }
  expect(await open()).toEqual(['batches 6 to 20: listed, but without blocks']);

  index(...range(6, 18));
  await poll(40);
  expect(await open()).toEqual(['batches 19 to 20: listed, but without blocks']);
  index(19, 20);
  await poll(50);
  expect(await open()).toEqual([]);
});

test('one without blocks below others that have theirs is open until its blocks come', async () => {
  const { poll, open, state, index } = await world(5);
  await poll(0);
  state(range(1, 9));
  index(6, 8, 9);

  // Once by each lane's run.
  expect(times(await poll(10), 7)).toBeLessThanOrEqual(2);
  expect(await open()).toEqual(['batch 7: listed, but without blocks']);

  index(7);
  for (const minute of [200, 400]) await poll(minute);
  expect(await open()).toEqual([]);
});

test('a new batch that the list does not have, below one without blocks, ends no run later', async () => {
  const { poll, open, state, index } = await world(5);
  await poll(0);
  state([...range(1, 5), 7]);
  index(6);

  const requested = (await poll(10)).filter((number) => number > 6);

  expect(requested.toSorted((a, b) => a - b)).toEqual([7, 8, 9, 10]);
  expect(await open()).toEqual(['batch 7: listed, but without blocks']);
});

test('the newest batch is searched where the list ends with batches without blocks', async () => {
  const { poll, open } = await world(5, 6, 7);

  const requested = (await poll(0)).filter((number) => number > 5);

  expect(new Set(requested).size).toBe(requested.length);
  expect(await open()).toEqual(['batches 6 to 7: listed, but without blocks']);
});
