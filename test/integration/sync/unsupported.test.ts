import { drizzle } from 'drizzle-orm/node-postgres';
import { expect, onTestFinished, test } from 'vitest';
import { startSimulator } from '../../../simulator/index.ts';
import { runProgram } from '../../../src/cli/program.ts';
import type { Occasion } from '../../../src/lists/list.ts';
import { dueLanes } from '../../../src/sync/targets.ts';
import { call } from '../../harness/call.ts';
import { freshDatabase } from '../../harness/database.ts';
import { plainOutput } from '../../harness/plain-output.ts';
import { differences } from '../../harness/tables.ts';
import { copyChain, copySeed, smallChain } from './copy.ts';

const plain = smallChain({ family: 'plain' });

test('each feed of a chain that serves none of the lists says that it is unsupported', async () => {
  const { pool } = await copyChain(plain);
  const { rows } = await pool.query(
    'select operation, state, failure, reason from etl.feeds order by operation',
  );
  const unsupported = {
    state: 'unsupported',
    failure: 'unsupported',
    reason: expect.stringMatching(/^unsupported: HTTP \d+, .+The explorer does not serve/),
  };
  expect(rows).toEqual([
    { operation: 'factories', ...unsupported },
    { operation: 'optimism-batch-blocks', ...unsupported },
    { operation: 'user-operations', ...unsupported },
  ]);
});

test('one request tells of a list that the chain does not serve', async () => {
  const { requests } = await copyChain(plain, { operations: ['user-operations', 'factories'] });
  expect(requests()).toBe(2);
});

test('a chain that serves none of the lists leaves the tables as they were', async () => {
  const { pool } = await copyChain(plain);
  expect(await differences(pool, copySeed, plain)).toEqual({});
});

test('the command says so of all its feeds, and that is no failure', async () => {
  const simulator = await startSimulator({ seed: copySeed, chains: [plain] });
  onTestFinished(() => simulator.close());
  const database = await freshDatabase();
  const output = { stdout: '', stderr: '' };
  const code = await runProgram(['sync', '--chain', '10', '--from-batch', '1', '--to-batch', '2'], {
    env: {
      EXPLORER_API_KEY: 'simulated-key',
      EXPLORER_BASE_URL: simulator.url,
      DATABASE_URL: database.url,
    },
    cwd: '/',
    signal: new AbortController().signal,
    stdout: (text) => void (output.stdout += text),
    stderr: (text) => void (output.stderr += text),
    ...plainOutput,
  });
  const told = [...output.stdout.matchAll(/^– (.*?): unsupported: /gmu)].flatMap(([, feeds = '']) =>
    feeds.split(', '),
  );
  expect(told.toSorted()).toEqual([
    '10/factories',
    '10/optimism-batch-blocks',
    '10/optimism-batches',
    '10/user-operations',
  ]);
  expect(output.stdout).not.toContain('✓');
  expect(code).toBe(0);
});

test('a chain that the explorer does not know fails the command, which names it and says what to do', async () => {
  const simulator = await startSimulator({ seed: copySeed, chains: [plain] });
  onTestFinished(() => simulator.close());
  const database = await freshDatabase();
  const ended = await call(['sync', '--chain', '999', '--quiet'], {
    env: {
      EXPLORER_API_KEY: 'simulated-key',
      EXPLORER_BASE_URL: simulator.url,
      DATABASE_URL: database.url,
    },
  });
  expect(ended.stdout).toMatch(
    /^✗ 999\/[\w/, -]+: unknown-chain: HTTP 404, Network not supported\. .*remove it from the configuration/mu,
  );
  expect(ended.stdout).not.toContain('✓');
  expect(ended.code).toBe(1);
});

test('a list that a person names and the chain does not serve fails the command, without a tick', async () => {
  const simulator = await startSimulator({ seed: copySeed, chains: [plain] });
  onTestFinished(() => simulator.close());
  const database = await freshDatabase();
  const env = {
    EXPLORER_API_KEY: 'simulated-key',
    EXPLORER_BASE_URL: simulator.url,
    DATABASE_URL: database.url,
  };
  const sync = ['sync', '--chain', '10', '--quiet', '--operation', 'factories'];
  const ended = await call(sync, { env });
  expect(ended.stdout).toMatch(/^– 10\/factories: unsupported: HTTP \d+, .*$/mu);
  expect(ended.stdout).not.toContain('✓');
  expect(ended.code).toBe(1);
});

test('schedules look at such a feed again after a day, a person may at any time', async () => {
  const { pool } = await copyChain(plain, { operations: ['factories'] });
  const target = {
    lane: { chain_id: plain.id, operation: 'factories', lane: 'backfill' },
    scope: {},
  } as const;
  const isDue = async (occasion: Occasion) =>
    (await dueLanes(drizzle(pool), [target], occasion, new Date())).length > 0;
  const seen = [await isDue('schedule'), await isDue('start'), await isDue('sync')];
  await pool.query("update etl.feeds set poll_again_at = poll_again_at - interval '23 hours'");
  seen.push(await isDue('schedule'));
  await pool.query("update etl.feeds set poll_again_at = poll_again_at - interval '3 hours'");
  seen.push(await isDue('schedule'));
  expect(seen).toEqual([false, false, true, false, true]);
});
