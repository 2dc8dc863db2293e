import { expect, test, vi } from 'vitest';
import { prepareDatabase } from '../../../src/app.ts';
import { configJsonSchema } from '../../../src/config/schema.ts';
import type * as registry from '../../../src/lists/registry.ts';
import { planFeeds } from '../../../src/status/plan.ts';
import { readStatus } from '../../../src/status/status.ts';
import { repairsOf, verifyFeeds } from '../../../src/status/verify.ts';
import { configuredFeeds, configuredLanes, registerFeeds } from '../../../src/sync/feeds.ts';
import { copyOf, opened, sharedDatabase } from '../../harness/database.ts';
import { testKey } from '../../harness/explorer.ts';
import { addressOf, hashOf } from '../../harness/kept.ts';
import { call } from '../../harness/process.ts';
import { plainChain, syncShared, settingsFor } from '../../harness/sync.ts';
import { openLake } from '../export/lake.ts';
import { blocksOfNumber, type Bundle, serveToys } from './toy-server.ts';
import { createToyTables, toyNames } from './toys.ts';

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

const feeds = toyNames.map((name) => `10/${name}`);

/** Three bundles in each block, the last two of one transaction, up to a dozen in every fifth one. */
const bundlesOf = (from: number, to: number): Bundle[] =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index).flatMap((block_number) => [
    { block_number, transaction: 2 * block_number, bundle_index: 0 },
    ...Array.from({ length: block_number % 5 === 0 ? 12 : 2 }, (_, bundle_index) => ({
      block_number,
      transaction: 2 * block_number + 1,
      bundle_index,
    })),
  ]);

/** With the tables of the toy lists, and the views made again, for these lists too. */
const prepared = sharedDatabase(async (database) => {
  await createToyTables(database.pool);
  await prepareDatabase(opened(database));
  await database.pool.end();
});

/** A service that has the toy lists, and a database with their tables. */
async function world() {
  const service = await serveToys();
  service.lists.bundles = bundlesOf(1, 50);
  service.lists.bundlers = Array.from({ length: 25 }, (_, id) => ({
    id: id + 1,
    total_ops: 9 * id,
  }));
  service.lists.newestNumber = 6;
  service.lists.newestBatch = 4;
  const database = await copyOf(prepared);
  const run = {
    url: service.url,
    chains: [plainChain],
    operations: toyNames,
    pageSize: 10,
    isRangeGiven: false,
  };
  const env = {
    DATABASE_URL: database.url,
    EXPLORER_BASE_URL: service.url,
    EXPLORER_API_KEY: testKey,
  };
  return {
    ...database,
    database,
    lists: service.lists,
    settings: () => settingsFor(run),
    sync: async () => {
      const operations = [...toyNames, 'optimism-batch-blocks'];
      const results = await syncShared(database, { ...run, operations });
      expect(results.map(({ state, reason }) => ({ state, reason }))).toEqual(
        results.map(() => ({ state: 'finished', reason: null })),
      );
    },
    command: (...args: readonly string[]) =>
      call([...args, '--chain', '10', ...toyNames.flatMap((name) => ['--operation', name])], {
        env,
      }),
    /** Bundles that are stored and in their list, in its order. */
    bundles: async (): Promise<Bundle[]> =>
      (
        await database.query(`
          select block_number::int, ('x' || right(transaction_hash, 8))::bit(32)::int as transaction,
                 bundle_index::int
          from explorer.toy_bundles where removed_at is null
        `)
      ).toSorted(byPlace),
  };
}

const byPlace = (a: Bundle, b: Bundle) =>
  b.block_number - a.block_number ||
  b.transaction - a.transaction ||
  b.bundle_index - a.bundle_index;

const ranks = `
  select address_hash, rank::int, total_ops::int, missing_since is not null as is_missing
  from explorer.toy_bundlers order by rank nulls last, address_hash
`;

const numbers = (table: string) => `
  select batch_number::int, blocks_count::int, is_verified from explorer.${table} order by 1
`;
/** All but the newest, which has no neighbour above. */
const verifiedUpTo = (newest: number) =>
  Array.from({ length: newest }, (_, index) => ({
    batch_number: index + 1,
    blocks_count: blocksOfNumber,
    is_verified: index + 1 < newest,
  }));

test('a new list appears in the configuration, verify, status, plan and repair before it is read', async () => {
  const { db, settings } = await world();
  const { chains } = settings();
  await registerFeeds(db, configuredFeeds(chains), 'flags', {
    origin: 'http://localhost',
    isSameData: false,
  });

  for (const toy of toyNames) expect(configJsonSchema()).toContain(`"${toy}": {`);
  const reports = await verifyFeeds(db);
  expect(reports.map(({ feed, open }) => [feed, open.length > 0])).toEqual(
    feeds.map((feed) => [feed, true]),
  );
  const status = await readStatus(db, 50);
  expect(status.feeds.map(({ feed, state, lanes }) => [feed, state, lanes])).toEqual(
    feeds.map((feed) => [feed, 'pending', []]),
  );
  const forecasts = await planFeeds(
    db,
    { configFile: null, chains },
    { pageSize: 50, at: new Date() },
  );
  expect(forecasts.map(({ feed, history }) => [feed, history.most])).toEqual(
    feeds.map((feed) => [feed, null]),
  );
  const rounds = await repairsOf(db, reports, configuredLanes(chains));
  expect(new Set(rounds.flat().map(({ lane }) => lane.operation))).toEqual(
    // A number is searched before it can be repaired.
    new Set(toyNames.filter((name) => name !== 'toy-numbers')),
  );
});

test('a new list is copied completely, and appears in each view of all lists', async () => {
  const { db, lists, sync, query, bundles } = await world();

  await sync();

  expect(await bundles()).toEqual(lists.bundles.toSorted(byPlace));
  expect(await query(ranks)).toEqual(
    lists.bundlers.toReversed().map(({ id, total_ops }, index) => ({
      address_hash: addressOf(id),
      rank: index + 1,
      total_ops,
      is_missing: false,
    })),
  );
  expect(await query(numbers('toy_numbers'))).toEqual(verifiedUpTo(6));
  expect(await query(numbers('read_batches'))).toEqual(verifiedUpTo(4));
  expect((await verifyFeeds(db)).flatMap(({ open }) => open)).toEqual([]);
  expect(await query('select feed from explorer.gaps')).toEqual([]);
  expect(
    await query(`select operation, to_block::int, to_at is not null as is_timed
                 from explorer.coverage
                 order by operation collate "C"`),
  ).toEqual([
    { operation: 'optimism-batch-blocks', to_block: 3, is_timed: true },
    { operation: 'toy-bundlers', to_block: null, is_timed: false },
    { operation: 'toy-bundles', to_block: 49, is_timed: true },
    { operation: 'toy-numbers', to_block: 5, is_timed: true },
  ]);
  expect(
    await query(`select operation, newest_block::int from explorer.freshness
                 order by operation collate "C"`),
  ).toEqual([
    { operation: 'optimism-batch-blocks', newest_block: 4 },
    { operation: 'toy-bundlers', newest_block: null },
    { operation: 'toy-bundles', newest_block: 50 },
    { operation: 'toy-numbers', newest_block: 6 },
  ]);
});

test('late, removed and changed items of a new list are recorded', async () => {
  const { lists, sync, query, bundles } = await world();
  await sync();
  const [gone, late] = [
    { block_number: 40, transaction: 81, bundle_index: 11 },
    { block_number: 42, transaction: 999, bundle_index: 3 },
  ];
  lists.bundles = [...lists.bundles, ...bundlesOf(51, 56), late].filter(
    (bundle) => byPlace(bundle, gone) !== 0,
  );
  lists.newestNumber = 8;
  lists.bundlers = lists.bundlers
    .filter(({ id }) => id !== 7)
    .map((bundler) => (bundler.id === 2 ? { ...bundler, total_ops: 10_000 } : bundler));

  await sync();
  await sync();

  expect(await bundles()).toEqual(lists.bundles.toSorted(byPlace));
  expect(
    await query(`select transaction_hash, bundle_index::int from explorer.toy_bundles
                 where removed_at is not null`),
  ).toEqual([{ transaction_hash: hashOf(81), bundle_index: 11 }]);
  expect(await query(`select block_number::int, key from explorer.late_arrivals`)).toEqual([
    { block_number: 42, key: `${hashOf(999)},${'3'.padStart(15, '0')}` },
  ]);
  expect(await query(numbers('toy_numbers'))).toEqual(verifiedUpTo(8));
  const [first] = await query(ranks);
  expect(first).toEqual({
    address_hash: addressOf(2),
    rank: 1,
    total_ops: 10_000,
    is_missing: false,
  });
  expect(
    await query(`select address_hash from explorer.toy_bundlers where missing_since is not null`),
  ).toEqual([{ address_hash: addressOf(7) }]);
  expect(
    await query(`select total_ops::int from explorer.toy_bundler_history
                 where address_hash = '${addressOf(2)}' order by observed_at`),
  ).toEqual([{ total_ops: 9 }, { total_ops: 10_000 }]);
});

test('gaps of a new list are repaired, and its rows exported', async () => {
  const { database, db, lists, sync, query, bundles, command } = await world();
  await sync();
  await query(`delete from explorer.toy_bundles where block_number between 20 and 34`);
  await query(`delete from etl.rankings`);
  await query(`delete from explorer.toy_blocks where toy_number = 3`);
  for (const table of ['walks', 'coverage']) {
    await query(`update etl.${table} set verified = verified - '{[20,35)}'
                 where feed = '10/toy-bundles'`);
  }
  expect((await verifyFeeds(db)).map(({ feed, open }) => [feed, open.length > 0])).toEqual([
    ['10/optimism-batch-blocks', false],
    ...feeds.map((feed) => [feed, true]),
  ]);

  expect(await command('repair')).toMatchObject({ code: 0 });

  expect((await verifyFeeds(db)).flatMap(({ open }) => open)).toEqual([]);
  expect(await bundles()).toEqual(lists.bundles.toSorted(byPlace));
  const lake = await openLake(database);
  const exported = await lake.exported();
  expect(exported.get('toy_bundles')?.rows).toBe(lists.bundles.length);
  expect(exported.get('toy_blocks')?.rows).toBe(6 * blocksOfNumber);
  expect(exported.get('toy_bundlers')?.rows).toBe(lists.bundlers.length);
});
