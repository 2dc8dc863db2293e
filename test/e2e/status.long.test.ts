import { expect, test } from 'vitest';
import type { StatusDocument } from '../../src/status/schema.ts';
import type { SimulatedChain } from '../../simulator/index.ts';
import { openFault } from '../harness/hostile-faults.ts';
import { call, eventually, startProgram } from '../harness/process.ts';
import { testKey } from '../harness/explorer.ts';
import { openWorld } from '../harness/world.ts';
import { plainChain } from '../harness/sync.ts';

/** More pages than can be read before a busy machine has looked, in a world that has a pace. */
const manyOperations = 2_000_000;

const chain: SimulatedChain = {
  ...plainChain,
  id: 11_155_420,
  name: 'optimism-sepolia',
  userOperations: 8_000,
  batches: { first: 1, count: 40, blocks: 100 },
  factories: 300,
};

const feedOf = (operation: string) => `${chain.id}/${operation}`;

/** A world whose pages come at this pace, and the program in it. */
async function scene(latencyMs: number) {
  // The newest items of the short one are of the last hours, as those of a live chain are.
  const startsAtMs = Date.now() - 5 * 3_600_000;
  const { place, database } = await openWorld({
    seed: 6,
    chain:
      latencyMs === 0 ? { ...chain, startsAtMs } : { ...chain, userOperations: manyOperations },
    latency: () => latencyMs,
    operations: {
      'user-operations': { parallel: 1 },
      'optimism-batch-blocks': {},
      factories: {},
    },
  });
  const { query } = database;
  const start = (...args: string[]) => startProgram(args, place);
  const env = {
    DATABASE_URL: place.databaseUrl,
    EXPLORER_BASE_URL: place.explorerUrl,
    EXPLORER_API_KEY: testKey,
  };
  const run = (...args: string[]) => call(args, { env, cwd: place.cwd });
  const status = async () =>
    (JSON.parse((await run('status', '--json')).stdout) as StatusDocument).feeds;
  const untilRead = (pages: number) =>
    eventually(`${pages} pages`, async () => {
      const rows = await query(`
        select count(*)::int as pages from etl.pages
        join etl.walks on walks.id = walk_id where operation = 'user-operations'`);
      return (rows[0]?.pages ?? 0) >= pages;
    });
  return { start, run, status, untilRead };
}

test('during a sync, status shows lanes, lag, coverage, requests left and the expected end', async () => {
  const { start, status, untilRead } = await scene(50);
  start('start');
  await untilRead(20);

  const report = (await status()).find(({ feed }) => feed === feedOf('user-operations'));

  expect(report).toMatchObject({ state: 'running', unit: 'blocks', verified: { gaps: 1 } });
  expect(report?.lag_s).toBeGreaterThan(0);
  const [lane, ...others] = report?.lanes ?? [];
  expect(others).toEqual([]);
  expect(lane).toMatchObject({ lane: 'backfill', state: 'running', run_state: 'open' });
  expect(report?.left.requests.most).toBeGreaterThan(100);
  expect(report?.left.ends_in_s).toBeGreaterThan(0);
});

test('a feed whose response comes one byte a second is shown as waiting, and is soon retried', async () => {
  const faults = () => openFault('byte-a-second');
  const { place, simulator } = await openWorld({
    seed: 6,
    chain,
    faults,
    operations: { factories: {} },
  });
  startProgram(['start'], place);

  const reason = await eventually('a state that says it waits', async () => {
    const { databaseUrl, cwd } = place;
    const { stdout } = await call(['status', '--json'], {
      env: { DATABASE_URL: databaseUrl },
      cwd,
    });
    const [report] = (JSON.parse(stdout) as StatusDocument).feeds;
    return report?.lanes.some(({ state }) => state === 'quiet') && report.sentence;
  });

  expect(reason).toMatch(/^No page for \d+ s: waits for an answer, /);
  await eventually('another request', async () => simulator.requests > 1);
});

test('status fits one screen, before and after a sync', async () => {
  const { run } = await scene(0);
  expect((await run('status')).stdout).toBe(
    '● stopped: Nothing is stored yet.\n  no worker\n\n    explorer-etl sync\n',
  );
  await run('sync');

  const { stdout } = await run('status');

  expect(stdout).toMatch(
    /^● healthy: All feeds are current and complete\.\n {2}[\d,]+ rows \([\d,]+ today\) · .*\n {2}no worker · [\d,]+ credits today/u,
  );
  expect(stdout).toMatch(/optimism-sepolia +factories +current +300 .* █+ 100 %\n/u);
  const lines = stdout.trimEnd().split('\n');
  expect(lines.length).toBeLessThan(24);
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(100);
});
