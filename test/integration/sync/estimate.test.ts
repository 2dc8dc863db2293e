import { expect, onTestFinished, test } from 'vitest';
import type { PlanDocument } from '../../../src/status/plan.ts';
import type { StatusDocument } from '../../../src/status/schema.ts';
import type { VerifyDocument } from '../../../src/status/verify.ts';
import { startSimulator, type SimulatedChain } from '../../../simulator/index.ts';
import { call } from '../../harness/call.ts';
import { recount } from '../../harness/coverage.ts';
import { freshDatabase } from '../../harness/database.ts';
import { listOperations, type ListedOperation } from '../../harness/listed-operations.ts';
import { configFolder } from '../../harness/process.ts';
import { testKey } from '../../harness/sync.ts';
import { truth } from '../../harness/truth/truth.ts';

const seed = 43;
const pageSize = 50;
const chain: SimulatedChain = {
  id: 10,
  name: 'optimism',
  family: 'optimism',
  generation: 'v12',
  userOperations: 3000,
  batches: { first: 1, count: 0, blocks: 60 },
  factories: 0,
};
const operations = truth(seed, chain, { operations: ['user-operations'] }).user_operations;
const oldest = operations
  .flatMap(({ timestamp }) => (typeof timestamp === 'string' ? [timestamp] : []))
  .sort()[0];

/** The program on a database of its own, and 3,000 operations, or the list of another explorer. */
async function world(url?: string) {
  let requests = 0;
  const simulator = await startSimulator({ seed, chains: [chain], onRequest: () => requests++ });
  onTestFinished(() => simulator.close());
  const database = await freshDatabase();
  const cwd = await configFolder({
    explorer: { requests_per_second: 1000 },
    chains: [{ id: chain.id, operations: { 'user-operations': { parallel: 1 } } }],
  });
  const env = {
    DATABASE_URL: database.url,
    EXPLORER_BASE_URL: url ?? simulator.url,
    EXPLORER_API_KEY: testKey,
  };
  const run = async (...args: string[]) => {
    const before = requests;
    const ended = await call([...args, '--log-level', 'silent'], { env, cwd });
    return { ...ended, requests: requests - before };
  };
  const documentOf = async <Told>(command: string) =>
    JSON.parse((await run(command, '--json')).stdout) as Told;
  return {
    run,
    pool: database.pool,
    plan: () => documentOf<PlanDocument>('plan'),
    status: () => documentOf<StatusDocument>('status'),
    verify: () => documentOf<VerifyDocument>('verify'),
  };
}

const pagesLeft = (operations.length - 450) / pageSize;

function expectNear(said: number | null | undefined, truly: number): void {
  expect(said).toBeGreaterThanOrEqual(truly / 1.5);
  expect(said).toBeLessThanOrEqual(truly * 1.5);
}

test('what is left down to the target is estimated by what was read, with its upper bound beside it', async () => {
  const { run, plan, status } = await world();
  await run('sync', '--since', String(oldest), '--max-pages', '9');

  const [planned] = (await plan()).feeds;
  const [told] = (await status()).feeds;

  expectNear(planned?.history.requests.likely, pagesLeft);
  expectNear(planned?.history.requests.most, pagesLeft);
  expect(told?.left.requests).toEqual(planned?.history.requests);
  expect((await run('plan')).stdout).toMatch(/^History: about 5\d \(at most [56]\d\) requests/u);
  expect((await run('status')).stdout).toMatch(/~5\d req\./u);
});

test('an upper bound is named as one', async () => {
  const { run, plan } = await world();
  await run('sync', '--max-pages', '9');

  const [planned] = (await plan()).feeds;

  expect(planned?.history).toMatchObject({ requests: { likely: null } });
  expect((await run('plan')).stdout).toMatch(/^History: at most [\d,]{7,} requests/u);
  expect((await run('verify')).stdout).toMatch(/--yes {3}at most [\d,]{7,} requests/u);
  expect(await run('repair')).toMatchObject({
    code: 2,
    requests: 0,
    stderr: expect.stringMatching(/takes at most [\d,]{7,} requests/u),
  });
});

/** Five operations in a block near the head, and far below one in a thousand blocks. */
const uneven: readonly ListedOperation[] = [
  ...Array.from({ length: 3000 }, (_, at) => ({
    block: 2_000_600 - Math.floor(at / 5),
    id: 9e6 - at,
  })),
  ...Array.from({ length: 1000 }, (_, at) => ({ block: (2000 - at) * 1000, id: 5000 - at })),
];

test('a repair is estimated by what is around the gap, not by what is denser elsewhere', async () => {
  const list = await listOperations([...uneven]);
  const { run, pool, verify } = await world(list.url);
  await run('sync');
  await pool.query(
    `update etl.walks set verified = verified - int8multirange(int8range(1100000, 1650000))`,
  );
  await recount(pool);

  const [feed] = (await verify()).feeds;
  const { code } = await run('repair');

  expect(code).toBe(0);
  expect(feed?.open).toMatchObject([{ kind: 'gap' }]);
  const { rows } = await pool.query<{ pages: number }>(
    'select pages::int from etl.walks order by id desc limit 1',
  );
  expectNear(feed?.repair?.requests, rows[0]?.pages ?? 0);
  expect((await verify()).feeds[0]?.state).toBe('complete');
});
