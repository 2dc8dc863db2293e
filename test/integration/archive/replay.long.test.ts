import { expect, test } from 'vitest';
import type { SimulatedChain } from '../../../src/simulator/index.ts';
import { operationNames } from '../../../src/operations/index.ts';
import { archivedWorld, replayed } from './archive.ts';

const minuteMs = 60_000;

const chain: SimulatedChain = {
  id: 10,
  name: 'optimism',
  family: 'optimism',
  generation: 'v12',
  userOperations: 300,
  batches: { first: 1, count: 4, blocks: 60 },
  factories: 120,
};

const moving: SimulatedChain = {
  ...chain,
  userOperations: 400,
  motion: {
    operationsPerMinute: 20,
    latePercent: 4,
    latestLateMs: 40 * minuteMs,
    orphanedPercent: 4,
    reincludedPercent: 50,
    reorgsPerDay: 200,
    oddBatchesPercent: 30,
    factoryChangeMs: 20_000,
    absentFactoriesPercent: 10,
    newFactoriesPercent: 10,
  },
};

test.each(['v10', 'v11', 'v12'] as const)(
  'a copy of generation %s is rebuilt from its archive, equal in every column, without a request',
  async (generation) => {
    const { database, syncAt, requests } = await archivedWorld({
      ...chain,
      generation,
      family: 'arbitrum',
      oddities: ['duplicates-in-page', 'duplicates-across-pages', 'missing-hash', 'max-wei'],
    });
    await syncAt(0, { operations: operationNames });
    await syncAt(0, { operations: operationNames });
    const before = requests();

    const { differing, missing, rows } = await replayed(database);

    expect({ differing, missing }).toEqual({ differing: [], missing: 0 });
    const { rows: ledger } = await database.pool.query(
      'select sum(rows)::int as rows from etl.pages',
    );
    expect(ledger).toEqual([{ rows }]);
    expect(requests()).toBe(before);
  },
);

test('a list that moved is rebuilt, with all that was concluded on the way', async () => {
  const { database, syncAt } = await archivedWorld(moving);
  for (let run = 0; run < 8; run += 1) {
    await syncAt(run * 5 * minuteMs, { overlapMs: 60 * minuteMs, isRangeGiven: false });
  }
  const { rows: concluded } = await database.pool.query(
    `select (select count(*) from explorer.user_operations where removed_at is not null) > 0
              as has_removed,
            (select count(*) from explorer.factory_history) > 120 as has_history,
            (select count(*) from explorer.block_reorgs) > 0 as has_reorgs`,
  );
  expect(concluded).toEqual([{ has_removed: true, has_history: true, has_reorgs: true }]);

  expect((await replayed(database)).differing).toEqual([]);
});

test('what a change in normalising would change is shown, and applied at once', async () => {
  const { database, syncAt } = await archivedWorld({ ...chain, oddities: ['max-wei'] });
  await syncAt(0);
  const { pool } = database;
  const all = `select md5(string_agg(t::text, ' ' order by t::text)) from explorer.`;
  const digest = async () =>
    (await pool.query(`${all}user_operations t union all ${all}block_rewards t`)).rows;
  const before = await digest();
  // As if an older version had normalised otherwise.
  await pool.query(`
    update explorer.user_operations set fee = null
    where hash in (select hash from explorer.user_operations order by hash limit 7);
    delete from explorer.factories where rank = 3;
    insert into explorer.addresses (chain_id, hash, page_id) values (10, '0xnew', 1);
    delete from explorer.blocks where height = (select min(height) from explorer.blocks)
  `);

  const shown = await replayed(database, 'diff');
  const perTable = Map.groupBy(shown.differences, ({ table }) => table);
  expect(perTable.get('explorer.user_operations')).toHaveLength(7);
  expect(perTable.get('explorer.user_operations')?.[0]).toMatchObject({
    present: { fee: null },
    replayed: { fee: expect.stringMatching(/^\d+$/) },
  });
  expect(perTable.get('explorer.factories')).toMatchObject([{ present: null }]);
  expect(perTable.get('explorer.addresses')).toMatchObject([{ replayed: null }]);
  expect(await digest()).not.toEqual(before);

  const { applied } = await replayed(database, 'apply');
  expect(applied).toBe(shown.differences.length);
  expect((await replayed(database)).differing).toEqual([]);
  expect(await digest()).toEqual(before);
});

test('an archive that lacks pages is not applied', async () => {
  const { database, syncAt } = await archivedWorld(chain);
  await syncAt(0, { operations: ['factories'], archive: 'off' });
  await syncAt(0, { operations: ['factories'] });

  expect((await replayed(database)).missing).toBe(3);
  await expect(replayed(database, 'apply')).rejects.toThrow(
    /3 pages of the ledger are not in the archive/,
  );
});

test('pages that are archived while a replay runs are part of it', async () => {
  const { database, syncAt } = await archivedWorld(chain);
  await syncAt(0, { operations: ['user-operations'] });
  const syncing = syncAt(0, { operations: ['factories', 'optimism-batch-blocks'] });
  const { differing } = await replayed(database);
  await syncing;
  expect(differing).toEqual([]);
});

test('nothing of a replay is left behind', async () => {
  const { database, syncAt } = await archivedWorld(chain);
  await syncAt(0, { operations: ['factories'] });
  await replayed(database);
  const { rows } = await database.pool.query(
    `select from pg_database where datname = current_database() || '_replay'`,
  );
  expect(rows).toEqual([]);
});
