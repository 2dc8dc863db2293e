import { drizzle } from 'drizzle-orm/node-postgres';
import { expect, test, vi } from 'vitest';
import { configJsonSchema } from '../../../src/config/schema.ts';
import type * as registry from '../../../src/lists/registry.ts';
import { planFeeds } from '../../../src/status/plan.ts';
import { readStatus } from '../../../src/status/status.ts';
import { repairsOf, verifyFeeds } from '../../../src/status/verify.ts';
import { registerFeeds } from '../../../src/sync/feeds.ts';
import { configuredFeeds, configuredLanes } from '../../../src/sync/targets.ts';
import { call } from '../../harness/call.ts';
import { freshDatabase } from '../../harness/database.ts';
import { openInWords } from '../../harness/findings.ts';
import { blocksOf, keepLists } from '../../harness/kept.ts';
import { plainChain, runSync, settingsFor, testKey } from '../../harness/sync.ts';
import { openLake } from '../export/lake.ts';
import { createToyTables } from './toys.ts';

vi.mock('../../../src/lists/registry.ts', async (original) => {
  const actual = await original<typeof registry>();
  const { toys } = await import('./toys.ts');
  const operations = { ...actual.operations, ...toys };
  return {
    ...actual,
    operations,
    operationNames: Object.keys(operations),
    isOperation: (name: string) => Object.hasOwn(operations, name),
    dataTables: [...actual.dataTables, ...Object.values(toys).flatMap(({ tables }) => tables)],
  };
});

const toy = 'toy-numbers';
const feed = `10/${toy}`;
const blocksEach = 25;

/** A service whose numbers hold the same blocks in both numbered lists, and a database with the tables of the toy. */
async function world() {
  const list = await keepLists();
  const grow = (newest: number) => {
    for (let number = 1; number <= newest; number += 1) {
      list.batches.set(number, blocksOf((number - 1) * blocksEach + 1, number * blocksEach));
    }
  };
  grow(4);
  const database = await freshDatabase();
  await createToyTables(database.pool);
  const run = { url: list.url, chains: [plainChain], pageSize: 10, isRangeGiven: false };
  const env = {
    DATABASE_URL: database.url,
    EXPLORER_BASE_URL: list.url,
    EXPLORER_API_KEY: testKey,
  };
  return {
    database,
    db: drizzle(database.pool),
    grow,
    settings: () => settingsFor({ ...run, operations: [toy] }),
    sync: async (...operations: readonly string[]) => {
      const results = await runSync(database, { ...run, operations });
      expect(results.map(({ reason }) => reason)).toEqual(results.map(() => null));
    },
    query: async (sql: string) => (await database.pool.query(sql)).rows,
    command: (...args: readonly string[]) =>
      call([...args, '--chain', '10', '--operation', toy], { env }),
  };
}

const numbers = (table: string) => `
  select batch_number::int, blocks_count::int, is_verified from explorer.${table} order by 1
`;
/** All but the newest, which has no neighbour above. */
const verifiedUpTo = (newest: number) =>
  Array.from({ length: newest }, (_, index) => ({
    batch_number: index + 1,
    blocks_count: blocksEach,
    is_verified: index + 1 < newest,
  }));

test('before it is read it is in the configuration, in verify, status, plan and repair', async () => {
  const { db, settings } = await world();
  const { chains } = settings();
  const source = { origin: 'http://localhost', isSameData: false };
  await registerFeeds(db, configuredFeeds(chains), 'flags', source);

  expect(configJsonSchema()).toContain(`"${toy}": {`);
  const reports = await verifyFeeds(db);
  expect(openInWords(reports)).toEqual(['the newest batch is not found yet']);
  const status = await readStatus(db, { pageSize: 50, standby: null });
  expect(status.feeds).toMatchObject([{ feed, state: 'pending', lanes: [] }]);
  const forecasts = await planFeeds(db, chains, { pageSize: 50, at: new Date() });
  expect(forecasts).toMatchObject([{ feed, history: { most: null } }]);
  // A number is searched before it can be repaired.
  expect(await repairsOf(db, reports, configuredLanes(chains))).toEqual([]);
});

test('its rows are those of the service, complete, and in each view of all lists', async () => {
  const { db, grow, sync, query } = await world();
  await sync(toy, 'optimism-batch-blocks');
  grow(6);
  for (let poll = 0; poll < 2; poll += 1) await sync(toy);

  expect(await query(numbers('toy_numbers'))).toEqual(verifiedUpTo(6));
  expect(await query(numbers('read_batches'))).toEqual(verifiedUpTo(4));
  expect(await query('select count(*)::int from explorer.toy_blocks')).toEqual([
    { count: 6 * blocksEach },
  ]);
  expect(openInWords(await verifyFeeds(db))).toEqual([]);
  expect(await query('select feed from explorer.gaps')).toEqual([]);
  expect(
    await query(`select operation, to_block::int, newest_block::int
                 from explorer.coverage join explorer.freshness using (chain_id, operation)
                 order by operation collate "C"`),
  ).toEqual([
    { operation: 'optimism-batch-blocks', to_block: 3, newest_block: 4 },
    { operation: toy, to_block: 5, newest_block: 6 },
  ]);
});

test('what is open is repaired, and what is stored exported', async () => {
  const { database, db, sync, query, command } = await world();
  await sync(toy, 'optimism-batch-blocks');
  await query('delete from explorer.toy_blocks where toy_number = 3');
  expect((await verifyFeeds(db)).map(({ feed: name, open }) => [name, open.length > 0])).toEqual([
    ['10/optimism-batch-blocks', false],
    [feed, true],
  ]);

  expect(await command('repair')).toMatchObject({ code: 0 });

  expect(openInWords(await verifyFeeds(db))).toEqual([]);
  const exported = await (await openLake(database)).exported();
  expect(exported.get('toy_blocks')?.rows).toBe(4 * blocksEach);
});
