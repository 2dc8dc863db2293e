import { drizzle } from 'drizzle-orm/node-postgres';
import { expect, onTestFinished, test } from 'vitest';
import { type SimulatedChain, startSimulator } from '../../../simulator/index.ts';
import { repairsOf, type VerifyDocument, verifyFeeds } from '../../../src/status/verify.ts';
import { creditsPerPage } from '../../../src/sync/ledger.ts';
import { configuredLanes } from '../../../src/sync/targets.ts';
import { call } from '../../harness/call.ts';
import { recount } from '../../harness/coverage.ts';
import { freshDatabase } from '../../harness/database.ts';
import { inWords } from '../../harness/findings.ts';
import { runSync, settingsFor } from '../../harness/sync.ts';

const seed = 5;
const chain: SimulatedChain = {
  id: 10,
  name: 'optimism',
  family: 'optimism',
  generation: 'v12',
  userOperations: 300,
  batches: { first: 1, count: 8, blocks: 30 },
  gaps: [4],
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
    (await verifyFeeds(db)).flatMap((report) =>
      inWords(report).open.map((what) => `${report.feed} ${what}`),
    );
  const repairs = async () => repairsOf(db, await verifyFeeds(db), lanes);
  return { database, findings, repairs };
}

test('nothing is open after a whole sync, and nothing is to be repaired', async () => {
  const { findings, repairs } = await world();

  expect(await findings()).toEqual([]);
  expect(await repairs()).toEqual([]);
});

test('a batch that was requested and not read is open, and its walk is the repair', async () => {
  const { database, findings, repairs } = await world();
  await database.pool.query('delete from explorer.read_batches where batch_number in (2, 3, 6)');

  expect(await findings()).toEqual([
    '10/optimism-batch-blocks batches 2 to 3: not downloaded',
    '10/optimism-batch-blocks batch 6: not downloaded',
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
    '10/optimism-batch-blocks batches 3 to 5: heights or hashes do not link at the border',
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

  expect(await findings()).toEqual(['10/factories 1 item in quarantine']);
  expect(await repairs()).toEqual([]);
});

/** What `verify` prints and ends with on a database. */
const verify = (url: string) => call(['verify', '--database-url', url]);

const documentOf = async (url: string) =>
  JSON.parse((await call(['verify', '--json', '--database-url', url])).stdout) as VerifyDocument & {
    readonly exit: object;
  };

test('each finding is reported with the command that fixes it, and the feed with what that costs', async () => {
  const { database, repairs } = await world();
  await database.pool.query(`
    insert into etl.quarantine (chain_id, operation, scope, raw, raw_hash, reason, page_id, position)
    values (10, 'factories', '{}', '{}', 'x', 'address: missing', 1, 0);
    delete from explorer.read_batches where batch_number in (2, 3, 6)`);

  const { exit, counts, feeds, repair } = await documentOf(database.url);

  const batches = '--chain 10 --operation optimism-batch-blocks';
  expect(exit).toEqual({ code: 1, reason: 'open' });
  expect(counts).toMatchObject({ feeds: 3, complete: 1, open: 2, findings: 3 });
  expect(feeds.flatMap(({ open }) => open)).toEqual([
    ...[
      [2, 3],
      [6, 6],
    ].map(([from, to]) => ({
      kind: 'gap',
      place: { unit: 'batches', from, to },
      sentence: 'not downloaded',
      command: `explorer-etl repair ${batches}`,
      count: null,
    })),
    {
      kind: 'quarantine',
      place: null,
      sentence: '1 item in quarantine',
      count: 1,
      command: 'explorer-etl quarantine list --chain 10 --operation factories',
    },
  ]);
  const [, blocks, factories] = feeds;
  expect(factories?.repair).toBeNull();
  const requests = blocks?.repair?.requests ?? 0;
  expect(blocks?.repair).toEqual({
    command: `explorer-etl repair ${batches}`,
    requests,
    credits: requests * creditsPerPage,
    at_most: requests,
  });
  expect(repair).toEqual({ ...blocks?.repair, command: 'explorer-etl repair' });
  const walks = (await repairs()).flat().map(({ scope }) => scope);
  expect(walks).toHaveLength(2);
  // Three batches of as many pages as the others have on average, never fewer than one each.
  expect(requests).toBeGreaterThanOrEqual(3);
});

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
  const to = (operation: string) => `--chain 11 --operation ${operation}`;
  expect(stdout.slice(0, stdout.indexOf('✓'))).toBe(
    `● open: 4 of 7 feeds, 4 findings

chain (11) made-up-list
  nothing is verified

chain (11) user-operations
  nothing is verified: no range is covered yet
  → explorer-etl repair ${to('user-operations')}

chain (11) optimism-batch-blocks
  the newest batch is not found yet
  → explorer-etl sync ${to('optimism-batch-blocks')}

chain (11) factories
  nothing is verified: no full snapshot yet
  → explorer-etl repair ${to('factories')}

All of it:
  → explorer-etl repair

`,
  );
});

test('what was read of a list is no evidence of it: a walk out of order, batches without neighbours, a ranking withdrawn', async () => {
  const { database, findings } = await world();
  await database.pool.query(`
    delete from etl.rankings;
    update etl.walks set verified = '{}', top = null where kind = 'newest-first';
    update explorer.read_batches set is_verified = false;
    update etl.feeds set target_numbers = '{[1,)}', latest_batch = null where operation = 'optimism-batch-blocks'`);
  await recount(database.pool);

  expect(await findings()).toEqual([
    '10/user-operations nothing is verified: no range is covered yet',
    '10/optimism-batch-blocks the newest batch is not found yet',
    '10/factories nothing is verified: no full snapshot yet',
  ]);
});

test('lists that are empty are verified by their ends', async () => {
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

  expect(stdout).toMatch(/batches 1 to \d+, as of 2026-01-02 to 2026-03-04\n/);
  expect(stdout).toMatch(/blocks 0 to [\d,]+, as of 03:04 UTC 2026-01-02\n/);
  const document = await documentOf(database.url);
  expect(document.feeds.map(({ covered }) => covered.length)).toEqual([1, 1, 1]);
  expect(document.feeds[1]?.covered[0]).toMatchObject({
    as_of: '2026-01-02T00:00:00+00:00',
    newest_as_of: '2026-03-04T00:00:00+00:00',
  });
  expect(document.feeds[0]?.covered[0]?.newest_as_of).toBe('2026-01-02T03:04:05+00:00');
});
