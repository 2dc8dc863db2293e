import { drizzle } from 'drizzle-orm/node-postgres';
import { expect, test } from 'vitest';
import { verifyFeeds } from '../../../src/status/verify.ts';
import { freshDatabase } from '../../harness/database.ts';
import { answered } from '../../harness/explorer.ts';
import { hashOf, listOperations, type ListedOperation } from '../../harness/listed-operations.ts';
import { eventually } from '../../harness/process.ts';
import { listedChain, runSync, type SyncRun } from '../../harness/sync.ts';
import { hangMs } from '../../harness/hang.ts';

/** An end that nothing supports is requested once more. */
const endRequested = 1;

/** One operation in every block of a range. */
const oneEach = (from: number, to: number): ListedOperation[] =>
  Array.from({ length: to - from + 1 }, (_, index) => ({ block: from + index, id: from + index }));

async function world(operations: ListedOperation[]) {
  const list = await listOperations(operations);
  const database = await freshDatabase();
  const sync = async (more: Partial<SyncRun> = {}) => {
    const results = await runSync(database, {
      url: list.url,
      chains: [listedChain],
      operations: ['user-operations'],
      pageSize: 10,
      ...more,
    });
    return { results, requests: list.takeRequests() };
  };
  const query = async (sql: string) => (await database.pool.query(sql)).rows;
  return { list, database, sync, query };
}

test('a live walk never goes below what is covered: history is read once', async () => {
  const { sync } = await world(oneEach(1, 500));
  // Ten operations in 20 s: less than the overlap of 30 s.
  await sync({ maxPages: 1 });

  const { requests } = await sync();

  expect(requests).toBeLessThanOrEqual(50 + 2 + endRequested);
});

test('a page within one block leaves all below it open', async () => {
  const within = Array.from({ length: 30 }, (_, index) => ({ block: 101, id: 500 + index }));
  const { sync, query, database } = await world([...oneEach(1, 100), ...within]);

  await sync({ maxPages: 1 });

  expect(await query('select from_block, to_block from explorer.gaps')).toEqual([
    { from_block: '0', to_block: '100' },
  ]);
  const [feed] = await verifyFeeds(drizzle(database.pool));
  expect(feed?.open).toMatchObject([{ kind: 'gap', place: { unit: 'blocks', from: 0, to: 100 } }]);
});

test('a sync that resumes an older live walk looks at the head again, and reads nothing twice', async () => {
  const { list, sync, query, database } = await world(oneEach(1, 100));
  await sync();
  list.operations.push(...oneEach(101, 900));
  const stop = new AbortController();
  const interrupted = sync({ signal: stop.signal });
  await eventually('a live walk on its way', hangMs, async () => {
    const { rowCount } = await database.pool.query(
      `select from etl.walks where lane = 'live' and pages >= 3`,
    );
    return rowCount === 1;
  });
  stop.abort();
  const first = await interrupted;
  list.operations.push(...oneEach(901, 1000));

  const { requests } = await sync();

  expect(await query('select max(block_number) as head from explorer.user_operations')).toEqual([
    { head: '1000' },
  ]);
  expect(await query('select from explorer.gaps')).toEqual([]);
  expect(first.requests + requests).toBeLessThanOrEqual(90 + 12 + endRequested);
});

test('an item whose time Postgres cannot hold is a row without it, and its feed goes on', async () => {
  const item = (id: number, timestamp: string) => ({
    hash: hashOf(id),
    block_number: '5',
    timestamp,
  });
  const url = await answered(() => ({
    body: {
      items: [
        item(3, '0000-01-01T00:00:00Z'),
        item(2, '2024-01-01T00:00:00+23:00'),
        item(1, '2024-01-01T00:00:00Z'),
      ],
      next_page_params: null,
    },
  }));
  const { sync, query } = await world([]);

  const { results } = await sync({ url });

  expect(results.map(({ state }) => state)).toEqual(['finished']);
  expect(
    await query(
      `select hash, extra ->> 'timestamp (malformed)' as told
       from explorer.user_operations where timestamp is null order by hash`,
    ),
  ).toEqual([
    { hash: hashOf(2), told: '2024-01-01T00:00:00+23:00' },
    { hash: hashOf(3), told: '0000-01-01T00:00:00Z' },
  ]);
  expect(await query('select reason from etl.quarantine')).toEqual([]);
});
