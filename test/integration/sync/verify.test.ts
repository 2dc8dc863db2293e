import { drizzle } from 'drizzle-orm/node-postgres';
import { expect, onTestFinished, test } from 'vitest';
import { prove } from '../../../src/report/proof.ts';
import { configuredLanes } from '../../../src/feeds/lanes.ts';
import { repairsOf } from '../../../src/report/repairs.ts';
import { startSimulator, type SimulatedChain } from '../../../src/simulator/index.ts';
import { call } from '../../support/call.ts';
import { freshDatabase } from '../../support/database.ts';
import { runSync, settingsFor } from '../../support/sync.ts';

const seed = 5;
const chain: SimulatedChain = {
  id: 10,
  name: 'optimism',
  family: 'optimism',
  generation: 'v12',
  userOperations: 300,
  batches: { first: 1, count: 8, blocks: 30 },
  holes: [4],
  factories: 20,
};

async function world(simulated = chain) {
  const simulator = await startSimulator({ seed, chains: [simulated] });
  onTestFinished(() => simulator.close());
  const database = await freshDatabase();
  const db = drizzle(database.pool);
  const run = { url: simulator.url, chains: [simulated] };
  await runSync(database, run);
  const lanes = configuredLanes(settingsFor(run).chains).map(({ lane, scope }) => ({
    lane,
    scope,
  }));
  const findings = async () =>
    (await prove(db)).flatMap(({ feed, open }) => open.map((what) => `${feed} ${what}`));
  const repairs = async () => repairsOf(db, await prove(db), lanes);
  return { database, findings, repairs };
}

test('nothing is open after a whole sync, and nothing is to be repaired', async () => {
  const { findings, repairs } = await world();

  expect(await findings()).toEqual([]);
  expect(await repairs()).toEqual([]);
});

test('a batch that was asked for and not read is open, and its walk is the repair', async () => {
  const { database, findings, repairs } = await world();
  await database.pool.query('delete from explorer.read_batches where batch_number in (2, 3, 6)');

  expect(await findings()).toEqual([
    '10/optimism-batch-blocks batches 2 to 3: not read',
    '10/optimism-batch-blocks batches 6 to 6: not read',
  ]);
  expect((await repairs()).map((round) => round.map(({ scope }) => scope))).toEqual([
    [{ from_batch: 6, to_batch: 6 }],
    [{ from_batch: 2, to_batch: 3 }],
  ]);
});

test('batches whose hashes do not meet at their border are open, across an empty one too', async () => {
  const { database, findings, repairs } = await world();
  await database.pool.query(
    `update explorer.blocks set parent_hash = null
     where height = (select first_height from explorer.read_batches where batch_number = 5)`,
  );

  expect(await findings()).toEqual([
    '10/optimism-batch-blocks border of batches 3 and 5: heights or hashes do not meet',
  ]);
  expect((await repairs()).flat().map(({ scope }) => scope)).toEqual([
    { from_batch: 5, to_batch: 5 },
    { from_batch: 3, to_batch: 3 },
  ]);
});

test('an item in quarantine is open, but no walk repairs it', async () => {
  const { database, findings, repairs } = await world();
  await database.pool.query(
    `insert into etl.quarantine (chain_id, operation, scope, raw, raw_hash, reason, page_id, position)
     values (10, 'factories', '{}', '{}', 'x', 'address: missing', 1, 0)`,
  );

  expect(await findings()).toEqual(['10/factories 1 items in quarantine']);
  expect(await repairs()).toEqual([]);
});

/** What `verify` prints and ends with on a database. */
const verify = (url: string) => call(['verify', '--database-url', url]);

test('a feed that nothing works on is open by name, whatever it is', async () => {
  const { database } = await world();
  expect((await verify(database.url)).code).toBe(0);
  await database.pool.query(
    `insert into etl.feeds (chain_id, operation, kind, settings)
     values (11, 'user-operations', 'newest-first', '{}'),
            (11, 'optimism-batch-blocks', 'numbered', '{}'), (11, 'factories', 'ranked', '{}'),
            (11, 'made-up-list', 'made-up-kind', '{}')`,
  );

  const { code, stdout } = await verify(database.url);

  expect(code).toBe(1);
  expect(stdout.slice(stdout.indexOf('11/'))).toBe(
    `11/factories: open
  open: nothing proves it: no ranking was published yet
11/made-up-list: open
  open: nothing proves it
11/optimism-batch-blocks: open
  open: no batch was found yet
11/user-operations: open
  open: nothing proves it: nothing is covered yet
`,
  );
});

test('what was read of a list is no proof of it: a walk out of order, batches without neighbours, a ranking withdrawn', async () => {
  const { database, findings } = await world();
  await database.pool.query(`
    delete from etl.rankings;
    update etl.walks set proved = '{}', top = null where kind = 'newest-first';
    update explorer.read_batches set is_proved = false;
    update etl.feeds set asked = '{[1,)}', frontier = null where operation = 'optimism-batch-blocks'`);

  expect(await findings()).toEqual([
    '10/factories nothing proves it: no ranking was published yet',
    '10/optimism-batch-blocks no batch was found yet',
    '10/user-operations nothing proves it: nothing is covered yet',
  ]);
});

test('lists that are empty are proved by their ends', async () => {
  const empty = { ...chain, userOperations: 0, factories: 0 };
  const { findings } = await world(empty);

  expect(await findings()).toEqual([]);
});

test('what is covered tells of its oldest reading and of its newest', async () => {
  const { database } = await world();
  await database.pool.query(
    `update etl.walks set started_at = '2026-01-02T03:04:05Z' where kind = 'newest-first';
     update explorer.read_batches set walked_at = '2026-01-02T00:00:00Z' where batch_number = 2;
     update explorer.read_batches set walked_at = '2026-03-04T00:00:00Z' where batch_number <> 2`,
  );

  const { stdout } = await verify(database.url);

  expect(stdout).toMatch(
    /batches 1 to \d+, as of 2026-01-02T00:00:00\+00:00 to 2026-03-04T00:00:00\+00:00\n/,
  );
  expect(stdout).toMatch(/blocks 0 to \d+, as of 2026-01-02T03:04:05\+00:00\n/);
});
