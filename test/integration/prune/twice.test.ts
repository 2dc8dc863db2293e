import { expect, test } from 'vitest';
import { recountCoverage, verifyFeeds } from '../../../src/status/verify.ts';
import { listWorld } from './world.ts';

test('what the walks of an earlier prune verified stays verified after the next one', async () => {
  const { db, sync, prune, age, walks, query } = await listWorld(50);
  const open = async () => (await verifyFeeds(db)).flatMap((feed) => feed.open);
  await sync(6);
  await age(100);
  await prune();
  await sync(4);
  await age(100);
  // As if only the pruned walks had met the list's order.
  await query(`update etl.walks set verified = '{}'`);
  await recountCoverage(db);
  const before = await open();

  await prune();

  expect(await walks()).toEqual({ walks: 2 });
  expect(await open()).toEqual(before);
});
