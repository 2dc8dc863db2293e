import { expect, onTestFinished, test } from 'vitest';
import { startSimulator, type SimulatedChain } from '../../../simulator/index.ts';
import { parseMoment } from '../../../src/time.ts';
import { call } from '../../harness/call.ts';
import { withinADay } from '../../harness/clock.ts';
import { freshDatabase } from '../../harness/database.ts';
import { testKey } from '../../harness/key.ts';
import { configFolder } from '../../harness/process.ts';

const chain: SimulatedChain = {
  id: 10,
  name: 'optimism',
  family: 'optimism',
  generation: 'v12',
  userOperations: 300,
  batches: { first: 1, count: 0, blocks: 1 },
  factories: 0,
};

/** A configuration that calls chain 10 by a name of its own, an explorer and a database. */
async function scene() {
  const simulator = await startSimulator({ seed: 11, chains: [chain] });
  onTestFinished(() => simulator.close());
  const database = await freshDatabase();
  const cwd = await configFolder({
    explorer: { requests_per_second: 1000 },
    chains: [{ id: 10, name: 'op mainnet', operations: { 'user-operations': {} } }],
  });
  const env = {
    DATABASE_URL: database.url,
    EXPLORER_BASE_URL: simulator.url,
    EXPLORER_API_KEY: testKey,
  };
  const run = (...args: string[]) =>
    call([...args, '--quiet', '--log-level', 'silent'], { cwd, env });
  return { run, pool: database.pool };
}

const runs = `
  select id, scope ->> 'since' as since from etl.runs where lane = 'backfill' order by id`;

test.each(['sync', 'backfill'])(
  '%s --since 7d reads back to the day that was a week ago, and is found again by the same words',
  (command) =>
    withinADay(async () => {
      const { run, pool } = await scene();
      const limit = command === 'sync' ? ['--max-pages', '1'] : [];
      const args = [command, '--chain', 'op-mainnet', '--since', '7d', ...limit];

      expect((await run(...args)).code).toBe(0);
      const { rows: first } = await pool.query<{ since: string }>(runs);
      await pool.query(`update etl.runs set state = 'interrupted' where lane = 'backfill'`);
      expect((await run(...args)).code).toBe(0);

      expect(first).toMatchObject([{ since: parseMoment('7d', new Date()) }]);
      expect((await pool.query(runs)).rows).toEqual(first);
    }),
);

test('a chain goes by the name of the configuration, the usual one or its number', async () => {
  const { run, pool } = await scene();
  for (const name of ['op-mainnet', 'Optimism', '10']) {
    const { code } = await run('sync', '--chain', name, '--max-pages', '1');
    expect(code).toBe(0);
  }
  const { rows } = await pool.query(`select distinct chain_id::int from etl.runs`);
  expect(rows).toEqual([{ chain_id: 10 }]);
  const refused = await run('sync', '--chain', 'op mainet');
  expect(refused.code).toBe(2);
  expect(refused.stderr).toMatch(
    /--chain op mainet: no chain has this name; did you mean op mainnet/,
  );
});

test('a question takes names of chains, and its days as a duration', async () => {
  const { run } = await scene();
  await run('sync');
  const question = ['query', 'operations-daily', '--format', 'csv'];

  const byName = await run(...question, '--chain', 'op mainnet', '--days', '2w');
  const byNumber = await run(...question, '--chain', '10', '--days', '14');

  expect(byName).toEqual(byNumber);
  expect(byName.code).toBe(0);
  expect(byName.stdout.trimEnd().split('\n').length).toBeGreaterThan(1);
  expect((await run(...question, '--chain', 'nowhere')).code).toBe(2);
  const half = await run(...question, '--days', '36h');
  expect(half).toMatchObject({ code: 2, stderr: expect.stringMatching(/whole days, such as 7/) });
});
