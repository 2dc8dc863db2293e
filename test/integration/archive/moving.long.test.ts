import { expect, test } from 'vitest';
import { archivedCopy, minuteMs, replayed, restless, storedRows } from './archive.ts';
import { plainChain } from '../../harness/sync.ts';

test('replay of lists that changed during many syncs changes no row', async () => {
  const { database, syncAt } = await archivedCopy({
    ...plainChain,
    userOperations: 400,
    batches: { first: 1, count: 4, blocks: 60 },
    factories: 120,
    motion: restless,
  });
  for (let run = 0; run < 8; run += 1) {
    await syncAt(run * 5 * minuteMs, {
      overlapMs: 60 * minuteMs,
      isRangeGiven: false,
    });
  }
  const concluded = await database.query(`
    select (select count(*) from explorer.user_operations where removed_at is not null) > 0
             as has_removed,
           (select count(*) from explorer.factory_history) > 120 as has_history,
           (select count(*) from explorer.block_reorgs) > 0 as has_reorgs`);
  expect(concluded).toEqual([{ has_removed: true, has_history: true, has_reorgs: true }]);
  const before = await storedRows(database);

  const { pages, ...counts } = await replayed(database);

  expect(pages).toBeGreaterThan(0);
  expect(counts).toEqual({ inserted: 0, updated: 0, released: 0, quarantined: 0 });
  expect(await storedRows(database)).toEqual(before);
});
