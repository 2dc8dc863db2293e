import { expect, test } from 'vitest';
import { freshDatabase } from '../../harness/database.ts';
import { hashOf, listOperations, type ListedOperation } from '../../harness/listed-operations.ts';
import { listedChain, runSync } from '../../harness/sync.ts';

/** One operation in every block from 1 to `blocks`. */
const oneEach = (blocks: number): ListedOperation[] =>
  Array.from({ length: blocks }, (_, index) => ({ block: index + 1, id: index + 1 }));

async function world(blocks: number) {
  const list = await listOperations(oneEach(blocks));
  const database = await freshDatabase();
  const sync = async () => {
    const [result] = await runSync(database, {
      url: list.url,
      chains: [listedChain],
      operations: ['user-operations'],
      pageSize: 10,
    });
    return { result, requests: list.takeRequests() };
  };
  const query = async (sql: string) => (await database.pool.query(sql)).rows;
  return { list, sync, query };
}

/** 30 s of overlap are 15 blocks: a live walk of pages of ten reads two or three. */
const liveRequests = 3;

test('new operations cost their own pages and those of the overlap', async () => {
  const { list, sync } = await world(200);
  await sync();
  list.operations.push(...oneEach(240).slice(200));

  const { requests } = await sync();

  expect(requests).toBeLessThanOrEqual(4 + liveRequests);
});

test('an operation that appears within the overlap is found and recorded as late', async () => {
  const { list, sync, query } = await world(200);
  await sync();
  list.operations.push({ block: 190, id: 5000 });

  await sync();

  expect(await query('select hash, block_number from explorer.late_arrivals')).toEqual([
    { hash: hashOf(5000), block_number: '190' },
  ]);
});

test('what is new above the covered top is not late', async () => {
  const { list, sync, query } = await world(200);
  await sync();
  list.operations.push({ block: 201, id: 5001 }, { block: 202, id: 5002 });

  await sync();

  expect(await query('select from explorer.late_arrivals')).toEqual([]);
});

test('an operation that left the list is marked as removed, and only that one', async () => {
  const { list, sync, query } = await world(200);
  await sync();
  list.operations = list.operations.filter(({ id }) => id !== 192);

  await sync();

  expect(
    await query('select hash from explorer.user_operations where removed_at is not null'),
  ).toEqual([{ hash: hashOf(192) }]);
});

test('an operation that left the list between two pages is marked as removed, and no other', async () => {
  const { list, sync, query } = await world(200);
  await sync();
  // The first page of ten ends with 193, the second begins with 191.
  list.operations = list.operations.filter(({ id }) => id !== 192);
  list.operations.push({ block: 201, id: 201 }, { block: 202, id: 202 });

  await sync();

  expect(
    await query('select hash from explorer.user_operations where removed_at is not null'),
  ).toEqual([{ hash: hashOf(192) }]);
});

test('an operation that comes back is no longer removed', async () => {
  const { list, sync, query } = await world(200);
  await sync();
  const all = list.operations;
  list.operations = all.filter(({ id }) => id !== 192);
  await sync();
  list.operations = all;

  await sync();

  expect(await query('select from explorer.user_operations where removed_at is not null')).toEqual(
    [],
  );
});

test('an operation that is included again in another block moves its row', async () => {
  const { list, sync, query } = await world(200);
  await sync();
  list.operations = list.operations.filter(({ id }) => id !== 192);
  list.operations.push({ block: 203, id: 192, fee: '7' });

  await sync();

  expect(
    await query(
      `select block_number, fee, removed_at from explorer.user_operations where hash = '${hashOf(192)}'`,
    ),
  ).toEqual([{ block_number: '203', fee: '7', removed_at: null }]);
});

test('nothing is concluded from pages that break the order, and the feed says so', async () => {
  const { list, sync, query } = await world(200);
  await sync();
  const before = await query('select covered from etl.feed_coverage');
  list.operations = list.operations.filter(({ id }) => id !== 192);
  list.operations.push({ block: 230, id: 230 });
  list.isDisordered = true;

  const { result } = await sync();

  expect(result?.state).toBe('finished');
  expect(await query('select covered from etl.feed_coverage')).toEqual(before);
  expect(await query('select from explorer.user_operations where removed_at is not null')).toEqual(
    [],
  );
  expect(await query('select state from etl.feeds')).toEqual([{ state: 'unordered' }]);
  expect(
    await query(`select from explorer.user_operations where hash = '${hashOf(230)}'`),
  ).toHaveLength(1);
});
