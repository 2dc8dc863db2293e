import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { roles } from '../../../src/db/roles.ts';
import type { z } from 'zod';
import type { checkDocument } from '../../../src/cli/check.ts';
import type { exitSchema } from '../../harness/documents.ts';
import type { SimulatedChain, SimulatorOptions } from '../../../simulator/index.ts';
import { simulated, testKey } from '../../harness/explorer.ts';
import { call, configFolder } from '../../harness/process.ts';
import { setClockAhead } from '../../harness/clock.ts';
import {
  freshDatabase,
  grantedDatabase,
  userWith,
  type TestDatabase,
} from '../../harness/database.ts';
import { plainChain } from '../../harness/sync.ts';

type CheckDocument = z.infer<typeof checkDocument> & { readonly exit: z.infer<typeof exitSchema> };

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
async function scene(
  database: Pick<TestDatabase, 'url'>,
  { explorer = {}, options = {} }: { explorer?: object; options?: Partial<SimulatorOptions> } = {},
) {
  const simulator = await simulated({ seed: 7, chains, ...options });
  const cwd = await configFolder({
    explorer: { requests_per_second: 1000, ...explorer },
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

test('check says which database and explorer it found, and no secret of either', async () => {
  const database = await freshDatabase();
  const { run, check, simulator } = await scene(database);
  const { hostname, port, pathname, password } = new URL(database.url);

  const { code, document } = await check();

  expect(code).toBe(0);
  expect(document.keys).toMatchObject([{ chains: [10, 42_220], credits_spent_today: 0 }]);
  expect(document.checks.filter(({ state }) => state !== 'ok')).toEqual([]);
  const text = (await run(['check'])).stdout;
  expect(text).toContain('configuration: explorer-etl.yaml: 2 chains, 6 feeds');
  expect(text).toContain(`database: ${pathname.slice(1)} on ${hostname}:${port}, Postgres `);
  expect(text).toMatch(/schema: (\d+) of \1 migrations? applied$/m);
  expect(text).toContain(`explorer: ${new URL(simulator.url).host}: 6 feeds answered in `);
  expect(text).toMatch(/Next: {2}explorer-etl sync/);
  for (const secret of [testKey, password].filter((one) => one !== '')) {
    expect(text + JSON.stringify(document)).not.toContain(secret);
  }
});

test('six feeds that are refused for one key are told once', async () => {
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

test('clocks that differ are a warning, of the database and of the explorer', async () => {
  const database = await freshDatabase();
  await setClockAhead(database.pool, '1 hour');
  const { simulator, check } = await scene(database);
  const late = createServer((request, response) => {
    void (async () => {
      const served = await fetch(new URL(request.url ?? '/', simulator.url));
      response.writeHead(served.status, {
        'content-type': 'application/json',
        date: new Date(Date.now() - 7_200_000).toUTCString(),
      });
      response.end(await served.text());
    })();
  });
  late.listen(0, '127.0.0.1');
  await once(late, 'listening');
  onTestFinished(() => void late.close());
  const { port } = late.address() as AddressInfo;

  const { code, document } = await check({ EXPLORER_BASE_URL: `http://127.0.0.1:${port}` });

  expect(code).toBe(0);
  expect(document.checks.filter(({ state }) => state === 'warning')).toMatchObject([
    { name: 'database clock', message: expect.stringMatching(/^(?:59m|1h).* ahead of/) },
    { name: 'explorer clock', message: expect.stringMatching(/^(?:1h|2h).* behind/) },
  ]);
});

test('a database of a newer program would not do', async () => {
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

test('an empty database would do, and nothing is made in it', async () => {
  const database = await freshDatabase('empty');
  const { check, run } = await scene(database);

  const { code, document } = await check();

  expect(code).toBe(0);
  expect(document.keys).toMatchObject([{ credits_spent_today: null }]);
  expect((await run(['check', '--no-requests'])).stdout).toMatch(/schema: none yet; .* creates it/);
  const rows = await database.query(
    `select from pg_namespace where nspname in ('etl', 'explorer')`,
  );
  expect(rows).toEqual([]);
});

test('what is left of the credits is what the service says, or of our own limit', async () => {
  const stated = await scene(await freshDatabase(), {
    options: { limits: () => ({ dailyCredits: 2_000 }) },
  });
  expect((await stated.check()).document.keys).toMatchObject([{ credits_left: 2_000 - 6 * 20 }]);

  const own = await scene(await freshDatabase(), {
    explorer: { daily_credits: 1_000 },
    options: { limits: () => ({ headers: 'absent' }) },
  });
  const sync = ['sync', '--chain', 'optimism', '--operation', 'factories'];
  const { code } = await own.run([...sync, '--quiet', '--log-level', 'silent']);
  expect(code).toBe(0);
  const { credits_left: left, credits_spent_today: spent } =
    (await own.check()).document.keys[0] ?? {};
  expect(spent).toBeGreaterThan(0);
  expect(left).toBe(1_000 - (spent ?? 0));
});

test('a role that may not look at the migrations is told nothing of them', async () => {
  const analyst = await userWith(await grantedDatabase(), roles.analyst);
  const { run } = await scene(analyst);
  const { code, stdout } = await run(['check', '--no-requests']);
  expect(stdout).toMatch(/schema: this role may not look/);
  expect(code).toBe(0);
});
