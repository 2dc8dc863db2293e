import { drizzle } from 'drizzle-orm/node-postgres';
import { beforeAll, expect, test } from 'vitest';
import { tableName } from '../../../src/db/digest.ts';
import { prove } from '../../../src/report/proof.ts';
import { openInWords } from '../../harness/findings.ts';
import { rowFindingText } from '../../../src/words/row-finding-text.ts';
import { noteDamage } from '../../../src/rows/damage.ts';
import { configuredFeeds, configuredLanes } from '../../../src/feeds/lanes.ts';
import { registerFeeds } from '../../../src/feeds/register.ts';
import { repairsOf } from '../../../src/report/repairs.ts';
import { checkRows, countedTables } from '../../../src/rows/check.ts';
import { chains } from '../../../src/lists/tables.ts';
import { operationNames } from '../../../src/operations/index.ts';
import { startSimulator } from '../../../simulator/index.ts';
import { createTestDatabase, type TestDatabase } from '../../harness/database.ts';
import { runSync, settingsFor } from '../../harness/sync.ts';
import { differences } from '../../harness/tables.ts';
import { openRunner } from '../../harness/runner.ts';
import { copySeed, smallChain } from '../sync/copy.ts';
import { damages } from './damages.ts';

const secretKey = 'secret-of-the-key';
const chain = smallChain({
  userOperations: 220,
  batches: { first: 1, count: 3, blocks: 40 },
  factories: 60,
  oddities: ['max-wei', 'nul-in-name'],
});

const scope = { operations: operationNames, withSecretKey: true };

let database: TestDatabase;
let url: string;
beforeAll(async () => {
  const simulator = await startSimulator({ seed: copySeed, chains: [chain], secretKey });
  ({ url } = simulator);
  database = await createTestDatabase();
  await runSync(database, { url, chains: [chain], operations: operationNames, secretKey });
  return async () => {
    await simulator.close();
    await database.drop();
  };
}, 120_000);

const found = async () => {
  const { findings } = await checkRows(drizzle(database.pool));
  return findings.map(rowFindingText);
};

test('nothing is found where nothing was damaged, in any table', async () => {
  expect(await differences(database.pool, copySeed, chain, scope)).toEqual({});
  expect(await found()).toEqual([]);
});

test('every table of schema explorer is looked at', async () => {
  const { rows } = await database.pool.query<{ name: string }>(
    `select 'explorer.' || relname as name from pg_class
     where relnamespace = 'explorer'::regnamespace and relkind in ('r', 'p')`,
  );
  const looked = [...countedTables, chains].map((table) => tableName(table));
  expect(looked.toSorted()).toEqual(rows.map(({ name }) => name).toSorted());
});

test.each(damages)(
  '$what: found, named and mended',
  { timeout: 60_000 },
  async ({ sql, named }) => {
    const { pool } = database;
    const settings = settingsFor({ url, chains: [chain], operations: operationNames, secretKey });
    const runner = await openRunner(database, settings);
    const lanes = configuredLanes(settings.chains, {
      fromBatch: chain.batches.first,
      toBatch: chain.batches.first + chain.batches.count - 1,
    });
    await pool.query(sql);

    const findings = await found();
    for (const name of named) expect(findings).toContainEqual(expect.stringMatching(name));
    await noteDamage(runner.db);
    await registerFeeds(runner.db, configuredFeeds(settings.chains), 'flags', {
      origin: url,
      isSameData: true,
    });
    const open = async () => openInWords(await prove(runner.db));
    for (const round of await repairsOf(runner.db, await prove(runner.db), lanes)) {
      const ended = await runner.run(round, new Date(), 'sync');
      expect(ended.filter((how) => how !== 'finished')).toEqual([]);
    }

    expect(await differences(pool, copySeed, chain, scope)).toEqual({});
    expect(await found()).toEqual([]);
    expect(await open()).toEqual([]);
  },
);
