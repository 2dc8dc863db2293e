import { expect, onTestFinished, test } from 'vitest';
import { startSimulator, type SimulatedChain } from '../../simulator/index.ts';
import { call } from '../harness/call.ts';
import { freshDatabase } from '../harness/database.ts';
import { testKey } from '../harness/sync.ts';

const chain: SimulatedChain = {
  id: 10,
  name: 'optimism',
  family: 'optimism',
  generation: 'v12',
  userOperations: 120,
  batches: { first: 1, count: 3, blocks: 20 },
  factories: 20,
};

test('verify --rows names damage and ends with 1, repair --rows mends it, and all is well again', async () => {
  const simulator = await startSimulator({ seed: 3, chains: [chain], apiKey: testKey });
  onTestFinished(() => simulator.close());
  const database = await freshDatabase();
  const env = {
    DATABASE_URL: database.url,
    EXPLORER_BASE_URL: simulator.url,
    EXPLORER_API_KEY: testKey,
  };
  const run = (...args: readonly string[]) => call(args, { env });
  expect((await run('sync', '--chain', '10', '--from-batch', '1', '--to-batch', '3')).code).toBe(0);
  const clean = await run('verify', '--rows');
  expect(clean.stdout).toMatch(/^Rows: all as they were written, of [\d,]+ rows in 17 tables$/m);
  expect(clean.code).toBe(0);
  await database.pool.query(`
    update explorer.user_operations set fee = 1 where hash = (select min(hash) from explorer.user_operations);
    delete from explorer.factories where rank = 3;
    delete from explorer.chains`);

  const { code, stdout } = await run('verify', '--rows');
  expect(code).toBe(1);
  expect(stdout).toMatch(/^ {2}explorer\.user_operations \(10, 0x[0-9a-f]{64}\): not as/m);
  expect(stdout).toMatch(/^ {2}explorer\.factories: chain 10: 1 of 20 rows gone, .* ranking/m);
  expect(stdout).toMatch(/^ {2}explorer\.chains \(10\): gone, though it has feeds/m);
  expect((await run('verify')).code).toBe(0);
  const json = JSON.parse((await run('verify', '--rows', '--json')).stdout) as {
    rows: { findings: unknown[] };
  };
  expect(json.rows.findings).toHaveLength(4);

  const repaired = await run('repair', '--rows', '--chain', '10');
  expect(repaired.stderr).toContain('explorer.user_operations: 1 damage noted in etl.damage');
  expect(repaired.code).toBe(0);
  expect((await run('verify', '--rows')).code).toBe(0);
});
