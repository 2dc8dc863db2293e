import { expect, test } from 'vitest';
import { batchWorld, fullBatch } from '../../harness/batch-world.ts';

// A batch waits for what is to come only if what is there does not contradict it.

test('batches that do not meet are open, though none of them is verified yet', async () => {
  const { list, poll, verify, database } = await batchWorld(12);
  await poll(0);
  await poll(10);
  list.batches.set(13, fullBatch(13).slice(5));
  list.batches.set(14, fullBatch(14));
  await poll(20);

  expect(await verify()).toMatchObject({
    open: ['batches 12 to 13: heights or hashes do not link at the border'],
    head: ['batch 14: waiting for the next batch'],
  });
  expect(
    await database.query('select verified, waiting, unverified from etl.batch_counts'),
  ).toEqual([{ verified: '11', waiting: '1', unverified: '2' }]);
  expect(await database.query('select from_block, to_block from explorer.gaps')).toEqual([
    { from_block: '12', to_block: '13' },
  ]);

  list.batches.set(13, fullBatch(13));
  await poll(1_440);
  await poll(2_880);

  expect(await verify()).toMatchObject({ open: [], covered: [{ from: 1, to: 13 }] });
});
