import { expect, test } from 'vitest';
import { freshDatabase } from '../../harness/database.ts';
import { hashOf, listOperations } from '../../harness/listed-operations.ts';
import { listedChain, runSync } from '../../harness/sync.ts';

const startMs = Date.UTC(2026, 0, 2);
const minutes = (count: number) => new Date(startMs + count * 60_000);

/** Four minutes behind the head: below the overlap, within the first resweep rule's depth. */
const lateBlock = 400 - 120;

async function world() {
  const operations = Array.from({ length: 400 }, (_, index) => ({
    block: index + 1,
    id: index + 1,
  }));
  const list = await listOperations(operations);
  const database = await freshDatabase();
  const syncAt = async (minute: number) => {
    await runSync(database, {
      url: list.url,
      chains: [listedChain],
      operations: ['user-operations'],
      pageSize: 10,
      at: minutes(minute),
    });
    return list.takeRequests();
  };
  const isFound = async () => {
    const { rows } = await database.pool.query(
      'select from explorer.user_operations where hash = $1',
      [hashOf(9_000)],
    );
    return rows.length > 0;
  };
  return { list, syncAt, isFound };
}

test('what arrives below the overlap is found when a resweep is due', async () => {
  const { list, syncAt, isFound } = await world();
  await syncAt(0);
  list.operations.push({ block: lateBlock, id: 9_000 });
  await syncAt(10);
  expect(await isFound()).toBe(false);

  await syncAt(21);

  expect(await isFound()).toBe(true);
});

test('a clock that ran ahead for a while puts no resweep off', async () => {
  const { list, syncAt, isFound } = await world();
  await syncAt(0);
  await syncAt(100_000);
  list.operations.push({ block: lateBlock, id: 9_000 });

  await syncAt(21);

  expect(await isFound()).toBe(true);
});

test('a resweep is paid for once in its interval', async () => {
  const { syncAt } = await world();
  await syncAt(0);
  const shallow = await syncAt(10);
  const deep = await syncAt(21);

  expect(deep).toBeGreaterThan(shallow);
  expect(await syncAt(30)).toBe(shallow);
});
