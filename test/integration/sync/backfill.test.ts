import { expect, onTestFinished, test } from 'vitest';
import { runProgram } from '../../../src/cli/program.ts';
import { startInstantMs, startSimulator, type SimulatedChain } from '../../../simulator/index.ts';
import { truth } from '../../harness/truth/truth.ts';
import { freshDatabase } from '../../harness/database.ts';
import { configFolder } from '../../harness/process.ts';
import { testKey } from '../../harness/sync.ts';
import { plainOutput } from '../../harness/plain-output.ts';

const seed = 23;
const pageSize = 50;
/** Batches have 60 blocks on average, 90 at most. */
const pagesOfBatch = 2;
const chain: SimulatedChain = {
  id: 10,
  name: 'optimism',
  family: 'optimism',
  generation: 'v12',
  userOperations: 1500,
  batches: { first: 1, count: 12, blocks: 60 },
  factories: 0,
};

/** A time by its share of the list, 0 at its oldest operation. */
function timeAt(share: number): string {
  const times = truth(seed, chain, { operations: ['user-operations'] })
    .user_operations.map((row) => Date.parse(String(row['timestamp'])))
    .filter((time) => !Number.isNaN(time))
    .sort((a, b) => a - b);
  return new Date(times[Math.floor(times.length * share)] ?? startInstantMs).toISOString();
}

/** A block by its share of the list. */
function blockAt(share: number): number {
  const blocks = truth(seed, chain, { operations: ['user-operations'] })
    .user_operations.map((row) => Number(row['block_number']))
    .sort((a, b) => a - b);
  return blocks[Math.floor(blocks.length * share)] ?? 0;
}

const pagesAfter = (share: number) => ((1 - share) * chain.userOperations) / pageSize;

/** The program on a database and a configuration of its own; says what each call cost. */
async function world(operations: object) {
  const simulator = await startSimulator({ seed, chains: [chain] });
  onTestFinished(() => simulator.close());
  const database = await freshDatabase();
  const cwd = await configFolder({
    explorer: { requests_per_second: 1000 },
    chains: [{ id: chain.id, operations }],
  });
  const call = async (...args: string[]) => {
    let stdout = '';
    const before = simulator.requests;
    const code = await runProgram([...args, '--quiet', '--log-level', 'silent'], {
      env: {
        DATABASE_URL: database.url,
        EXPLORER_BASE_URL: simulator.url,
        EXPLORER_API_KEY: testKey,
      },
      cwd,
      signal: new AbortController().signal,
      stdout: (text) => void (stdout += text),
      stderr: () => undefined,
      ...plainOutput,
    });
    return { code, stdout, requests: simulator.requests - before };
  };
  return { call, pool: database.pool };
}

const stored = 'select count(*)::int as rows from explorer.user_operations';

test('an earlier since costs the pages between, and two more at most', async () => {
  const { call, pool } = await world({ 'user-operations': { parallel: 1 } });
  await call('sync', '--since', timeAt(0.7));

  const { code, requests } = await call('backfill', '--since', timeAt(0.3));

  expect(code).toBe(0);
  expect(requests).toBeGreaterThanOrEqual(Math.floor(pagesAfter(0.3) - pagesAfter(0.7)));
  expect(requests).toBeLessThanOrEqual(Math.ceil(pagesAfter(0.3) - pagesAfter(0.7)) + 2);
  const { rows } = await pool.query<{ rows: number }>(stored);
  expect(rows[0]?.rows).toBeGreaterThanOrEqual(chain.userOperations * 0.7);
});

test('history before the configured since is read too, and the live lane left alone', async () => {
  const { call, pool } = await world({ 'user-operations': { since: timeAt(0.7) } });
  await call('sync');

  const { requests } = await call('backfill', '--since', timeAt(0.3));

  expect(requests).toBeGreaterThanOrEqual(Math.floor(pagesAfter(0.3) - pagesAfter(0.7)));
  const { rows } = await pool.query(`select from etl.runs where lane = 'live'`);
  expect(rows).toEqual([]);
});

test('history that is covered is not read again', async () => {
  const { call } = await world({ 'user-operations': {}, 'optimism-batch-blocks': {} });
  await call('sync');

  expect(await call('backfill')).toMatchObject({ code: 0, requests: 0 });
});

test('a lower first batch costs the batches below, and those at the ends of what was read once more', async () => {
  const { call, pool } = await world({
    'optimism-batch-blocks': { from_batch: 9, to_batch: 12 },
  });
  await call('sync');

  const { code, requests } = await call('backfill', '--from-batch', '5');

  expect(code).toBe(0);
  const { rows } = await pool.query<{ pages: number; batches: number }>(
    `select sum(pages)::int as pages, count(distinct batch)::int as batches
     from etl.walks where batch < 9`,
  );
  expect(rows[0]?.batches).toBe(4);
  // The newest has nobody above to verify it, and the lowest waits for the one that is read now.
  expect(requests).toBeLessThanOrEqual((rows[0]?.pages ?? 0) + 1 + pagesOfBatch);
});

test('what is known is requested again only where that is said', async () => {
  const { call, pool } = await world({ 'user-operations': {} });
  await call('sync');

  expect((await call('backfill', '--again')).code).toBe(0);

  const { rows } = await pool.query('select scope from etl.runs order by id desc limit 1');
  expect(rows).toMatchObject([{ scope: { again: true } }]);
});

test('a range of blocks is read alone, for its own pages, one at the head and one at each end', async () => {
  const { call, pool } = await world({ 'user-operations': { parallel: 1 } });
  const [from, to] = [blockAt(0.4), blockAt(0.5)];
  const items = truth(seed, chain, { operations: ['user-operations'] }).user_operations.filter(
    (row) => Number(row['block_number']) >= from && Number(row['block_number']) <= to,
  ).length;

  const { code, requests } = await call(
    'backfill',
    '--from-block',
    String(from),
    '--to-block',
    String(to),
  );

  expect(code).toBe(0);
  expect(requests).toBeLessThanOrEqual(Math.ceil(items / pageSize) + 1 + 2);
  const { rows } = await pool.query(
    'select from explorer.coverage where from_block <= $1 and to_block >= $2',
    [from, to],
  );
  expect(rows).toHaveLength(1);
  expect(
    await call('backfill', '--from-block', String(from), '--to-block', String(to)),
  ).toMatchObject({ code: 0, requests: 0 });
});
