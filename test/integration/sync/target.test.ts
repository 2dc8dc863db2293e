import { expect, onTestFinished, test } from 'vitest';
import type { PlanDocument } from '../../../src/status/plan.ts';
import type { StatusDocument } from '../../../src/status/schema.ts';
import type { VerifyDocument } from '../../../src/status/verify.ts';
import { startSimulator, type SimulatedChain } from '../../../simulator/index.ts';
import { call } from '../../harness/call.ts';
import { freshDatabase } from '../../harness/database.ts';
import { configFolder } from '../../harness/process.ts';
import { testKey } from '../../harness/sync.ts';
import { truth } from '../../harness/truth/truth.ts';

const seed = 41;
const chain: SimulatedChain = {
  id: 10,
  name: 'optimism',
  family: 'optimism',
  generation: 'v12',
  userOperations: 1500,
  batches: { first: 1, count: 12, blocks: 60 },
  factories: 40,
  // A source that has stopped is not healthy.
  startsAtMs: Date.now() - 2 * 3_600_000,
};

const times = truth(seed, chain, { operations: ['user-operations'] })
  .user_operations.map((row) => Date.parse(String(row['timestamp'])))
  .filter((time) => !Number.isNaN(time))
  .sort((a, b) => a - b);

/** A time by its share of the list, 0 at its oldest operation. */
const timeAt = (share: number) =>
  new Date(times[Math.floor(times.length * share)] ?? 0).toISOString();

const pagesAfter = (share: number) => Math.ceil(((1 - share) * chain.userOperations) / 50);

/** The program on a database and a file of its own. */
async function world(operations: object) {
  let requests = 0;
  let stop = { after: Infinity, signal: new AbortController() };
  const simulator = await startSimulator({
    seed,
    chains: [chain],
    onRequest: () => {
      requests += 1;
      if (requests === stop.after) stop.signal.abort();
    },
  });
  onTestFinished(() => simulator.close());
  const database = await freshDatabase();
  const cwd = await configFolder({
    explorer: { requests_per_second: 1000 },
    chains: [{ id: chain.id, operations }],
  });
  const env = {
    DATABASE_URL: database.url,
    EXPLORER_BASE_URL: simulator.url,
    EXPLORER_API_KEY: testKey,
  };
  const run = async (...args: string[]) => {
    const before = requests;
    const { signal } = stop.signal;
    const ended = await call([...args, '--log-level', 'silent'], { env, cwd, signal });
    return { ...ended, requests: requests - before };
  };
  return {
    run,
    pool: database.pool,
    /** A command that is told to stop after so many requests. */
    interrupted: async (after: number, ...args: string[]) => {
      stop = { after: requests + after, signal: new AbortController() };
      const { code } = await run(...args);
      stop = { after: Infinity, signal: new AbortController() };
      return code;
    },
    /** What the commands that only look say of it. */
    look: async () => {
      const [planned, told, verified] = [
        await run('plan', '--json'),
        await run('status', '--json'),
        await run('verify', '--json'),
      ];
      const plan = JSON.parse(planned.stdout) as PlanDocument;
      const status = JSON.parse(told.stdout) as StatusDocument;
      const verify = JSON.parse(verified.stdout) as VerifyDocument;
      return {
        codes: [planned.code, told.code, verified.code],
        left: plan.feeds.map(({ history }) => history.requests.most),
        state: status.overall.state,
        open: verify.feeds.flatMap(({ open }) => open),
      };
    },
  };
}

const allThere = { codes: [0, 0, 0], state: 'healthy', open: [] };

test('all that a command named is there, and nothing is said to be missing below it', async () => {
  const { run, look } = await world({
    'user-operations': {},
    'optimism-batches': {},
    factories: {},
  });

  const { code } = await run('sync', '--since', timeAt(0.6));

  expect(code).toBe(0);
  expect(await look()).toEqual({ ...allThere, left: [0, 0, 0] });
  expect(await run('repair')).toMatchObject({ code: 0, requests: 0 });
});

test('a range of batches that a command named is what is wanted of them', async () => {
  const { run, look } = await world({ 'optimism-batch-blocks': {} });
  await run('sync', '--from-batch', '3', '--to-batch', '6');

  const again = await run('sync');

  expect(await look()).toEqual({ ...allThere, left: [0] });
  expect(again.requests).toBeLessThanOrEqual(2);
});

test('a command that is stopped in the middle leaves its target to the next one', async () => {
  const { run, interrupted, look, pool } = await world({ 'user-operations': { parallel: 1 } });

  expect(await interrupted(3, 'sync', '--since', timeAt(0.6))).toBe(130);
  const middle = await look();
  const { code } = await run('sync');

  expect(middle).toMatchObject({ codes: [0, 0, 1] });
  expect(middle.left[0]).toBeLessThanOrEqual(pagesAfter(0.6));
  expect(code).toBe(0);
  expect(await look()).toEqual({ ...allThere, left: [0] });
  const { rows } = await pool.query('select sum(pages)::int as pages from etl.walks');
  expect(rows[0]?.pages).toBeLessThanOrEqual(pagesAfter(0.6) + 2);
});

test('how long ago is the moment that it was when the command ran', async () => {
  const { run, pool } = await world({ 'user-operations': {} });
  await run('sync', '--since', '3w');

  const { rows } = await pool.query<{ since: string }>(
    `select target ->> 'since' as since from etl.feeds`,
  );

  expect(Date.now() - Date.parse(rows[0]?.since ?? '')).toBeGreaterThan(20 * 86_400_000);
});

test('another command names another target, and all there is', async () => {
  const { run, look } = await world({ 'user-operations': { parallel: 1 } });
  await run('sync', '--since', timeAt(0.8));
  await run('backfill', '--since', timeAt(0.5));
  const earlier = await look();

  const { code, requests } = await run('backfill', '--since', 'all');

  expect(earlier).toEqual({ ...allThere, left: [0] });
  expect(code).toBe(0);
  expect(requests).toBeGreaterThanOrEqual(pagesAfter(0.5) - 1);
  expect(await look()).toEqual({ ...allThere, left: [0] });
});

test('what the file names is the target', async () => {
  const { run, look, pool } = await world({ 'user-operations': { since: timeAt(0.5) } });
  await run('sync', '--since', timeAt(0.8));

  const { open } = await look();
  await run('sync');

  expect(open).toMatchObject([{ kind: 'gap' }]);
  expect(await look()).toEqual({ ...allThere, left: [0] });
  expect((await pool.query('select target from etl.feeds')).rows).toEqual([{ target: null }]);
});
