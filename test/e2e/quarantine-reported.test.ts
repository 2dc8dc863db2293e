import { expect, test } from 'vitest';
import { runProgram } from '../../src/cli/program.ts';
import type { SimulatedChain } from '../../simulator/index.ts';
import { simulated } from '../harness/explorer.ts';
import { freshDatabase } from '../harness/database.ts';
import { configFolder } from '../harness/process.ts';
import { testKey, plainChain } from '../harness/sync.ts';
import { plainOutput } from '../harness/plain-output.ts';

const chain: SimulatedChain = {
  ...plainChain,
  userOperations: 400,
  factories: 10,
};

/** Commands against an explorer some of whose items have no hash, or none such. */
async function scene(oddities: SimulatedChain['oddities'] = ['missing-hash']) {
  const simulator = await simulated({ seed: 5, chains: [{ ...chain, oddities }] });
  const { pool, url } = await freshDatabase();
  const operations = { 'user-operations': {}, factories: {} };
  const cwd = await configFolder({
    explorer: { requests_per_second: 1000 },
    chains: [{ id: 10, operations }],
  });
  const call = async (...args: readonly string[]) => {
    let stdout = '';
    const code = await runProgram([...args, '--quiet', '--log-level', 'silent'], {
      env: {
        DATABASE_URL: url,
        EXPLORER_BASE_URL: simulator.url,
        EXPLORER_API_KEY: testKey,
      },
      cwd,
      signal: new AbortController().signal,
      stdout: (text) => void (stdout += text),
      stderr: () => undefined,
      ...plainOutput,
    });
    return { code, stdout };
  };
  const count = async (since: number) => {
    const { rows } = await pool.query<{ n: number }>(
      `select count(*)::int as n from etl.quarantine where operation = 'user-operations' and id > $1`,
      [since],
    );
    return rows[0]?.n ?? 0;
  };
  const newest = async () => {
    const { rows } = await pool.query<{ id: string }>(
      'select coalesce(max(id), 0) as id from etl.quarantine',
    );
    return Number(rows[0]?.id);
  };
  return { call, count, newest };
}

const told = (count: number) =>
  `  10/user-operations: ${count} items in quarantine.\n    explorer-etl quarantine list\n`;

test('sync says how many items went to quarantine, and how to see them', async () => {
  const { call, count } = await scene();

  const { code, stdout } = await call('sync', '--operation', 'user-operations');

  expect(await count(0)).toBeGreaterThan(1);
  expect(stdout).toMatch(/^optimism +user operations +\w+ +\d+/mu);
  expect(stdout).toContain(told(await count(0)));
  expect(code).toBe(0);
});

test('its document counts them for each lane', async () => {
  const { call, count } = await scene();

  const { stdout } = await call('sync', '--json');

  const { lanes } = JSON.parse(stdout) as {
    lanes: readonly { feed: string; quarantined: number }[];
  };
  const ofOperations = lanes.filter(({ feed }) => feed === '10/user-operations');
  expect(ofOperations.reduce((sum, { quarantined }) => sum + quarantined, 0)).toBe(await count(0));
});

test('repair says it of what it read', async () => {
  const { call, count, newest } = await scene();
  await call('sync', '--operation', 'user-operations', '--max-pages', '3');
  const before = await newest();

  const { stdout } = await call('repair', '--yes', '--operation', 'user-operations');

  expect(await count(before)).toBeGreaterThan(1);
  expect(stdout).toMatch(/: \d+ items in quarantine\.\n {4}explorer-etl quarantine list$/mu);
});

test('where nothing went there, nothing is said of it', async () => {
  const { call } = await scene([]);

  const { stdout } = await call('sync');

  expect(stdout).not.toContain('quarantine');
});
