import { expect, test } from 'vitest';
import { freshDatabase } from '../../harness/database.ts';
import { listOperations, type ListedOperation } from '../../harness/listed-operations.ts';
import { listedChain, runSync } from '../../harness/sync.ts';

/** One operation in each block down to 170, nine in block 161, one in each below. */
const operations: readonly ListedOperation[] = [
  ...Array.from({ length: 31 }, (_, index) => ({ block: 200 - index, id: 200 - index })),
  ...Array.from({ length: 9 }, (_, index) => ({ block: 161, id: 1_000 + index })),
  ...Array.from({ length: 100 }, (_, index) => ({ block: 160 - index, id: 160 - index })),
];

test('a gap is closed although all that its nearest stored cursor led to above it has left', async () => {
  const list = await listOperations([...operations]);
  const database = await freshDatabase();
  const sync = (bounds: { readonly maxPages?: number } = {}) =>
    runSync(database, {
      url: list.url,
      chains: [listedChain],
      operations: ['user-operations'],
      pageSize: 10,
      ...bounds,
    });
  // The fourth page begins with block 170 and ends in 161, so all from there down is unverified.
  await sync({ maxPages: 4 });
  list.operations = list.operations.filter(({ block }) => block !== 170);

  await sync();

  expect(
    (await database.pool.query('select from_block, to_block from explorer.gaps')).rows,
  ).toEqual([]);
});
