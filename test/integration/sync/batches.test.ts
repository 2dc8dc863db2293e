import { drizzle } from 'drizzle-orm/node-postgres';
import { expect, onTestFinished, test } from 'vitest';
import { verifyFeeds } from '../../../src/status/verify.ts';
import { startSimulator, type SimulatedChain } from '../../../simulator/index.ts';
import { freshDatabase } from '../../harness/database.ts';
import { runSync } from '../../harness/sync.ts';
import { differences } from '../../harness/tables.ts';

const seed = 3;
const chainWith = (count: number): SimulatedChain => ({
  id: 10,
  name: 'optimism',
  family: 'optimism',
  generation: 'v12',
  userOperations: 0,
  batches: { first: 1, count, blocks: 20 },
  gaps: [7, 13],
  factories: 0,
});

async function world() {
  const database = await freshDatabase();
  /** A sync that is told no range, beside an explorer that has `count` batch numbers. */
  const syncWith = async (count: number) => {
    const chain = chainWith(count);
    const simulator = await startSimulator({ seed, chains: [chain] });
    onTestFinished(() => simulator.close());
    await runSync(database, {
      url: simulator.url,
      chains: [chain],
      operations: ['optimism-batch-blocks'],
      isRangeGiven: false,
    });
    return simulator.requests;
  };
  const query = async (sql: string) => (await database.pool.query(sql)).rows;
  return { database, syncWith, query };
}

test('without a range the newest batch is searched, and all below it are read', async () => {
  const { database, syncWith, query } = await world();

  await syncWith(30);

  expect(await query('select latest_batch from etl.feeds')).toEqual([{ latest_batch: '30' }]);
  expect(
    await differences(database.pool, seed, chainWith(30), {
      operations: ['optimism-batch-blocks'],
    }),
  ).toEqual({});
});

test('a run without a new batch costs one poll above the latest batch, and rereads', async () => {
  const { syncWith } = await world();
  await syncWith(30);

  // One poll, and the newest batch, which is the only one that nothing verifies yet.
  expect(await syncWith(30)).toBe(1 + 1);
});

test('new batches are found and read, and nothing below them again', async () => {
  const { database, syncWith, query } = await world();
  await syncWith(30);
  let requests = 0;
  // A poll right above the latest batch comes every other time.
  for (let run = 0; run < 2; run += 1) requests += await syncWith(36);

  expect(await query('select latest_batch from etl.feeds')).toEqual([{ latest_batch: '36' }]);
  expect(requests).toBeLessThanOrEqual(2 * 3 + 6 + 1);
  expect(
    await differences(database.pool, seed, chainWith(36), {
      operations: ['optimism-batch-blocks'],
    }),
  ).toEqual({});
  const [report] = await verifyFeeds(drizzle(database.pool));
  expect(report?.covered).toMatchObject([{ from: 1, to: 35 }]);
  expect(report?.notes.filter(({ kind }) => kind === 'pending-head')).toEqual([
    {
      kind: 'pending-head',
      place: { unit: 'batches', from: 36, to: 36 },
      sentence: 'waiting for an update by the service',
      command: null,
      count: null,
    },
  ]);
});
