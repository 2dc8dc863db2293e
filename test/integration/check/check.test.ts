import { expect, test } from 'vitest';
import type { Documents } from '../../../src/cli/documents.ts';
import type { SimulatedChain } from '../../../simulator/index.ts';
import { simulated, testKey } from '../../harness/explorer.ts';
import { call, configFolder } from '../../harness/process.ts';
import { freshDatabase, type TestDatabase } from '../../harness/database.ts';
import { plainChain } from '../../harness/sync.ts';
import { serve } from '../explorer/server.ts';

type CheckDocument = Documents['check'];

const chain: SimulatedChain = {
  ...plainChain,
  userOperations: 200,
  batches: { first: 1, count: 2, blocks: 20 },
  gapsPercent: 0,
  factories: 20,
};
const chains = [chain, { ...chain, id: 42_220, name: 'celo' }];
const three = { 'user-operations': {}, 'optimism-batch-blocks': {}, factories: {} };

/** A simulated explorer, a database and a file that names six feeds. */
async function scene(database: Pick<TestDatabase, 'url'>) {
  const simulator = await simulated({ seed: 7, chains });
  const cwd = await configFolder({
    explorer: { requests_per_second: 1000 },
    chains: chains.map(({ id }) => ({ id, operations: three })),
  });
  const env = {
    DATABASE_URL: database.url,
    EXPLORER_BASE_URL: simulator.url,
    EXPLORER_API_KEY: testKey,
  };
  const run = (args: readonly string[], more: NodeJS.ProcessEnv = {}) =>
    call(args, { cwd, env: { ...env, ...more } });
  return {
    simulator,
    run,
    check: async (more: NodeJS.ProcessEnv = {}, args: readonly string[] = []) => {
      const { code, stdout } = await run(['check', '--json', ...args], more);
      return { code, document: JSON.parse(stdout) as CheckDocument };
    },
  };
}

test("the requests of check count among the credits of the key's day", async () => {
  const database = await freshDatabase();
  const { check } = await scene(database);
  await check();
  await check();
  expect(await database.query('select credits_spent::int, requests::int from etl.budget')).toEqual([
    { credits_spent: 12 * 20, requests: 12 },
  ]);
});

test('check says which database and explorer it found, and no secret of either', async () => {
  const database = await freshDatabase();
  const { run, check, simulator } = await scene(database);
  const { hostname, port, pathname, password } = new URL(database.url);

  const { code, document } = await check();

  expect(code).toBe(0);
  expect(document.checks.filter(({ state }) => state !== 'ok')).toEqual([]);
  const text = (await run(['check'])).stdout;
  expect(text).toContain('configuration: explorer-etl.yaml: 2 chains, 6 feeds');
  expect(text).toContain(`database: ${pathname.slice(1)} on ${hostname}:${port}, Postgres `);
  expect(text).toMatch(/schema: (\d+) of \1 migrations? applied$/m);
  expect(text).toContain(`explorer: ${new URL(simulator.url).host}: 6 feeds answered`);
  expect(text).toMatch(/Next: {2}explorer-etl sync/);
  for (const secret of [testKey, password].filter((one) => one !== '')) {
    expect(text + JSON.stringify(document)).not.toContain(secret);
  }
});

test('six feeds that are refused for one key are reported once', async () => {
  const { run, check } = await scene(await freshDatabase());
  const wrong = { EXPLORER_API_KEY: 'not-the-key-at-all' };

  const { code, document } = await check(wrong);

  expect(code).toBe(1);
  expect(document.exit.reason).toBe('failed');
  const failed = document.checks.filter(({ state }) => state === 'failed');
  expect(failed).toMatchObject([{ name: 'explorer', failure: 'unauthorized' }]);
  expect(failed[0]?.feeds).toHaveLength(6);
  const { stdout } = await run(['check'], wrong);
  expect(stdout.match(/^FAIL/gm)).toHaveLength(1);
  expect(stdout).toMatch(/^FAIL {2}explorer: 6 feeds \(10\/user-operations, /m);
  expect(stdout).not.toContain('not-the-key-at-all');
  expect(stdout).not.toContain('Next:');
});

test('check refuses a database of a newer version', async () => {
  const database = await freshDatabase();
  await database.query(
    `insert into etl.migrations (hash, created_at) values ('newer', 9999999999999)`,
  );
  const { check, run } = await scene(database);

  const { code, document } = await check({}, ['--no-requests']);

  expect(code).toBe(1);
  const failed = document.checks.filter(({ state }) => state === 'failed');
  expect(failed).toMatchObject([{ name: 'schema' }]);
  expect((await run(['check', '--no-requests'])).stdout).toMatch(
    /^FAIL {2}schema: .*1 of a newer program.*update this program/ms,
  );
});

test('check accepts an empty database, and creates nothing in it', async () => {
  const database = await freshDatabase('empty');
  const { check, run } = await scene(database);

  const { code } = await check();

  expect(code).toBe(0);
  expect((await run(['check', '--no-requests'])).stdout).toMatch(/schema: none yet; .* creates it/);
  const rows = await database.query(
    `select from pg_namespace where nspname in ('etl', 'explorer')`,
  );
  expect(rows).toEqual([]);
});

test('check, sync and init warn if others can read the key on its way to the explorer', async () => {
  const { run, simulator } = await scene(await freshDatabase('empty'));
  // Another name of this machine, which the program cannot know.
  const open = { EXPLORER_BASE_URL: simulator.url.replace('127.0.0.1', '0.0.0.0') };
  const said = /0\.0\.0\.0:\d+ is reached over http, which sends the key unencrypted/u;
  expect((await run(['check', '--no-requests'], open)).stdout).toMatch(said);
  expect((await run(['sync', '--operation', 'factories'], open)).stderr).toMatch(said);
  expect((await run(['--config', 'new.yaml', 'init'], open)).stderr).toMatch(said);
  const own = await Promise.all([
    run(['check', '--no-requests']),
    run(['--config', 'own.yaml', 'init']),
  ]);
  for (const { stdout, stderr } of own) expect(stdout + stderr).not.toContain('unencrypted');
});

test('check shows no key that a body repeats which looks like a page and is not JSON', async () => {
  const { check } = await scene(await freshDatabase());
  const { baseUrl } = await serve((request, response) => {
    const key = new URL(request.url ?? '', 'http://localhost').searchParams.get('apikey');
    response.end(`{"you": "${key}", ${' '.repeat(5_000)}}`);
  });
  const { code, document } = await check({ EXPLORER_BASE_URL: baseUrl });
  expect(code).toBe(1);
  expect(JSON.stringify(document)).toMatch(/the body is not JSON: .*you.*\*\*\*/u);
  expect(JSON.stringify(document)).not.toContain(testKey);
});
