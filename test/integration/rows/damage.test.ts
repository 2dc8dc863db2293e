import { drizzle } from 'drizzle-orm/node-postgres';
import { expect, test } from 'vitest';
import { createPool } from '../../../src/db/pool.ts';
import { prove } from '../../../src/report/proof.ts';
import { inWords } from '../../harness/findings.ts';
import { rowFindingText } from '../../../src/words/row-finding-text.ts';
import { noteDamage } from '../../../src/rows/damage.ts';
import { configuredLanes } from '../../../src/feeds/lanes.ts';
import { repairsOf } from '../../../src/report/repairs.ts';
import { forgetDoneRereads } from '../../../src/rows/rereads.ts';
import { checkRows } from '../../../src/rows/check.ts';
import type { SimulatedChain } from '../../../simulator/index.ts';
import { alterExplorer, type AlteredExplorer } from '../../harness/altered-explorer.ts';
import { freshDatabase, type TestDatabase } from '../../harness/database.ts';
import { runSync, settingsFor } from '../../harness/sync.ts';
import { differences } from '../../harness/tables.ts';
import { openRunner } from '../../harness/runner.ts';

const seed = 5;
const chain: SimulatedChain = {
  id: 10,
  name: 'optimism',
  family: 'optimism',
  generation: 'v12',
  userOperations: 260,
  batches: { first: 1, count: 4, blocks: 60 },
  factories: 60,
};

async function world() {
  const explorer = await alterExplorer(seed, chain);
  const database = await freshDatabase();
  return { explorer, database, db: drizzle(database.pool), pool: database.pool };
}

const found = async (database: TestDatabase) =>
  (await checkRows(drizzle(database.pool))).findings.map(rowFindingText);

/** What `repair` does after it has looked at the rows. */
async function mend(explorer: AlteredExplorer, database: TestDatabase): Promise<void> {
  const settings = settingsFor({ url: explorer.url, chains: [chain] });
  const runner = await openRunner(database, settings);
  const { first, count } = chain.batches;
  const lanes = configuredLanes(settings.chains, { fromBatch: first, toBatch: first + count - 1 });
  for (const round of await repairsOf(runner.db, await prove(runner.db), lanes)) {
    await runner.run(round, new Date(), 'sync');
  }
}

test('an old backup of a table is found, though each of its rows is whole', async () => {
  const { explorer, database, db, pool } = await world();
  explorer.alter = (page, path) => {
    if (path.includes('operations')) for (const item of page.items) item['fee'] = '1';
    for (const item of page.items) {
      if (path.includes('factories')) item['total_accounts'] = Number(item['total_accounts']) + 7;
    }
    return page;
  };
  await runSync(database, { url: explorer.url, chains: [chain] });
  await pool.query(`
    create schema backup;
    create table backup.user_operations as select * from explorer.user_operations;
    create table backup.factories as select * from explorer.factories`);
  explorer.alter = (page) => page;
  // All of it again, as it really is.
  await pool.query(`insert into etl.rereads (chain_id, operation, after_walk, blocks)
    select 10, 'user-operations', max(id), '{[0,)}' from etl.walks`);
  await runSync(database, { url: explorer.url, chains: [chain] });
  expect(await found(database)).toEqual([]);

  await pool.query(`
    begin;
    set local session_replication_role = replica;
    delete from explorer.user_operations;
    insert into explorer.user_operations select * from backup.user_operations;
    delete from explorer.factories;
    insert into explorer.factories select * from backup.factories;
    commit`);

  const findings = await found(database);
  expect(findings).toContainEqual(
    expect.stringMatching(/^explorer\.user_operations: .* rows in an older version, first stored/),
  );
  expect(findings).toContainEqual(
    expect.stringMatching(/^explorer\.factories: .* rows in an older version, first stored/),
  );
  await noteDamage(db);
  await mend(explorer, database);
  const { rows } = await pool.query<{ fees: number }>(
    `select count(*)::int as fees from explorer.user_operations where fee = 1`,
  );
  expect(rows).toEqual([{ fees: 0 }]);
  expect(await found(database)).toEqual([]);
});

test('rows that somebody added of a chain that was never registered are taken out, too', async () => {
  const { explorer, database, db, pool } = await world();
  await runSync(database, { url: explorer.url, chains: [chain] });
  await pool.query(`
    insert into explorer.user_operations (chain_id, hash, block_number, page_id)
    values (999, '0xadded', 5, 1)`);
  expect(await found(database)).not.toEqual([]);

  await noteDamage(db);

  expect(await found(database)).toEqual([]);
  const { rows } = await pool.query('select feed from etl.rereads');
  expect(rows).toContainEqual({ feed: '999/user-operations' });
});

test('what was noted is open until it is read again, whoever reads it, and nothing is late by it', async () => {
  const { explorer, database, db, pool } = await world();
  await runSync(database, { url: explorer.url, chains: [chain] });
  const open = async () =>
    (await prove(db)).flatMap((proof) =>
      inWords(proof).open.map((line) => `${proof.feed} ${line}`),
    );
  await pool.query(`delete from explorer.user_operations where block_number in (
    select block_number from explorer.user_operations order by block_number offset 100 limit 5);
    delete from explorer.blocks where optimism_batch_number = 2;
    delete from explorer.factories where rank = 4`);
  expect((await open()).join('\n')).toMatch(/batch 2: 0 blocks are stored, where \d+ were read/);
  expect((await open()).join('\n')).not.toMatch(/user-operations|factories/);

  await noteDamage(db);
  // A process that is killed here has repaired nothing, and lost nothing.
  const noted = (await open()).join('\n');
  expect(noted).toMatch(/10\/user-operations blocks [\d,]+ to [\d,]+: a gap/);
  expect(noted).toMatch(/10\/user-operations blocks [\d,]+ to [\d,]+: rows were damaged/);
  expect(noted).toMatch(/10\/optimism-batch-blocks batch 2: not read/);
  expect(noted).toMatch(/10\/factories rows were damaged, and no ranking was published since/);
  expect((await noteDamage(db)).size).toBe(0);
  expect((await open()).join('\n')).toBe(noted);
  const before = explorer.requests;
  await mend(explorer, database);

  expect(await open()).toEqual([]);
  expect(explorer.requests - before).toBeLessThanOrEqual(8 + 2 + 2);
  expect(await differences(pool, seed, chain)).toEqual({});
  expect(await found(database)).toEqual([]);
  const { rows } = await pool.query('select from explorer.late_arrivals');
  expect(rows).toEqual([]);
  await forgetDoneRereads(db);
  expect((await pool.query('select from etl.rereads')).rows).toEqual([]);
  expect(await open()).toEqual([]);
});

test('a table that was dropped is named, and so is a column', async () => {
  const { explorer, database, pool } = await world();
  await runSync(database, { url: explorer.url, chains: [chain] });
  await pool.query(`alter table explorer.factories drop column extra;
    drop table explorer.block_uncles`);

  expect(await found(database)).toEqual([
    'explorer.block_uncles: the table is gone: restore it from a backup',
    'explorer.factories: without extra: restore the table from a backup',
  ]);
});

test('the check of the rows writes nothing, so that it runs on a standby', async () => {
  const { explorer, database } = await world();
  await runSync(database, { url: explorer.url, chains: [chain] });
  await database.pool.query(
    `do $$ begin
       execute format('alter database %I set default_transaction_read_only = on', current_database());
     end $$`,
  );
  const reader = createPool({ url: database.url, max: 1, applicationName: 'reader' });
  try {
    expect((await checkRows(drizzle(reader))).findings).toEqual([]);
  } finally {
    await reader.end();
  }
});
