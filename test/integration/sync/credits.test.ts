import { expect, onTestFinished, test } from 'vitest';
import { runProgram } from '../../../src/cli/program.ts';
import { startSimulator } from '../../../simulator/index.ts';
import { withinADay } from '../../harness/clock.ts';
import { freshDatabase } from '../../harness/database.ts';
import { configFolder } from '../../harness/process.ts';
import { copySeed, smallChain } from './copy.ts';
import { plainOutput } from '../../harness/plain-output.ts';

test('a sync whose credits are used up says until when, keeps what it read, and exits with 1', () =>
  withinADay(async () => {
    const chain = smallChain({ batches: { first: 1, count: 0, blocks: 0 }, factories: 0 });
    const simulator = await startSimulator({ seed: copySeed, chains: [chain] });
    onTestFinished(() => simulator.close());
    const database = await freshDatabase();
    const cwd = await configFolder({
      explorer: { requests_per_second: 1000, page_size: 10, daily_credits: 80 },
      chains: [{ id: chain.id, operations: { 'user-operations': {} } }],
    });
    const output = { stdout: '', stderr: '' };
    const code = await runProgram(['sync', '--quiet'], {
      env: {
        EXPLORER_API_KEY: 'simulated-key',
        EXPLORER_BASE_URL: simulator.url,
        DATABASE_URL: database.url,
      },
      cwd,
      signal: new AbortController().signal,
      stdout: (text) => void (output.stdout += text),
      stderr: (text) => void (output.stderr += text),
      ...plainOutput,
    });
    expect(output.stdout).toMatch(
      /^✗ 10\/user-operations: out-of-credits: .*; no request before 20\d\d-\d\d-\d\d 00:00:00 UTC\. Nothing to do: /mu,
    );
    const { rows } = await database.pool.query(
      `select state, (select count(*)::int from explorer.user_operations) as stored from etl.feeds`,
    );
    expect({ code, requests: simulator.requests, rows }).toEqual({
      code: 1,
      requests: 4,
      rows: [{ state: 'waiting', stored: 40 }],
    });
  }));
