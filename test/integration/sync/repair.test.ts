import { expect, onTestFinished, test } from 'vitest';
import type { SyncDocument } from '../../../src/cli/sync-result.ts';
import { startSimulator, type SimulatedChain } from '../../../simulator/index.ts';
import { call } from '../../harness/call.ts';
import { freshDatabase } from '../../harness/database.ts';
import { testKey } from '../../harness/sync.ts';

const chain: SimulatedChain = {
  id: 10,
  name: 'optimism',
  family: 'optimism',
  generation: 'v12',
  userOperations: 120,
  batches: { first: 1, count: 3, blocks: 20 },
  factories: 120,
};

/** A copy of the factories of one chain, and nothing else. */
async function copied() {
  const simulator = await startSimulator({
    seed: 3,
    chains: [chain, { ...chain, id: 8453 }],
    apiKey: testKey,
  });
  onTestFinished(() => simulator.close());
  const database = await freshDatabase();
  const env = {
    DATABASE_URL: database.url,
    EXPLORER_BASE_URL: simulator.url,
    EXPLORER_API_KEY: testKey,
  };
  const run = async (...args: readonly string[]) => {
    const before = simulator.requests;
    const ended = await call(args, { env });
    return { ...ended, requests: simulator.requests - before };
  };
  const query = async (sql: string) => (await database.pool.query(sql)).rows;
  expect((await run('sync', '--chain', '10', '--operation', 'factories')).code).toBe(0);
  return { run, query };
}

const feeds = 'select feed from etl.feeds order by 1';
const chains = 'select chain_id::int from explorer.chains order by 1';

test.each([
  ['a chain', ['--chain', '10']],
  ['a chain that was never read', ['--chain', '8453']],
  ['a list that was never read', ['--chain', '10', '--operation', 'user-operations']],
])(
  'repair of %s registers nothing, and reads nothing that verify does not report',
  async (_, flags) => {
    const { run, query } = await copied();

    const repaired = await run('repair', ...flags);

    expect(repaired).toMatchObject({ code: 0, requests: 0 });
    expect(repaired.stdout).toContain('Nothing to do');
    expect(await query(feeds)).toEqual([{ feed: '10/factories' }]);
    expect(await query(chains)).toEqual([{ chain_id: 10 }]);
    expect((await run('verify')).code).toBe(0);
  },
);

test('repair without an operation reads of what is open and of nothing else', async () => {
  const { run, query } = await copied();
  expect((await run('sync', '--chain', '10', '--operation', 'user-operations')).code).toBe(0);
  await query(`delete from etl.rankings`);
  await query(`delete from explorer.chains`);

  const repaired = await run('repair', '--chain', '10', '--json');

  const { lanes } = JSON.parse(repaired.stdout) as SyncDocument;
  expect(lanes.map(({ feed }) => feed)).toEqual(['10/factories']);
  expect(await query(feeds)).toEqual([{ feed: '10/factories' }, { feed: '10/user-operations' }]);
  expect(await query(chains)).toEqual([{ chain_id: 10 }]);
  expect((await run('verify')).code).toBe(0);
});
