import { expect, onTestFinished, test } from 'vitest';
import { startSimulator } from '../../../simulator/index.ts';
import { call } from '../../harness/call.ts';
import { freshDatabase } from '../../harness/database.ts';
import { listedChain, testKey } from '../../harness/sync.ts';

test('sync ends with how to look at what it copied, unless a program reads it', async () => {
  const chain = { ...listedChain, factories: 20 };
  const simulator = await startSimulator({ seed: 3, chains: [chain], apiKey: testKey });
  onTestFinished(() => simulator.close());
  const { url } = await freshDatabase();
  const env = {
    DATABASE_URL: url,
    EXPLORER_BASE_URL: simulator.url,
    EXPLORER_API_KEY: testKey,
  };
  const args = ['sync', '--chain', '10', '--operation', 'factories'];
  const look = 'Query it:  explorer-etl query --list\n';
  const told = await call(args, { env });
  expect(told.stdout.endsWith(look)).toBe(true);
  expect((await call([...args, '--quiet'], { env })).stdout).not.toContain('Query it');
  expect(JSON.parse((await call([...args, '--json'], { env })).stdout)).toMatchObject({
    lanes: [{ feed: '10/factories', state: 'finished' }],
  });
  const requested = await call(['query', 'biggest-factories', '--limit', '1', '--json'], { env });
  expect(JSON.parse(requested.stdout)).toMatchObject({ rows: [expect.anything()] });
});
