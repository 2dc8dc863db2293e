import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { freshDatabase } from '../../harness/database.ts';
import { plainChain, simulated } from '../../harness/explorer.ts';
import { command, emptyFolder, eventually, startProgram } from '../../harness/process.ts';

test('once no start has the refused key any more, all that waits for it is read at once', async () => {
  const chains = [{ ...plainChain, userOperations: 30, factories: 10 }];
  const simulator = await simulated({ seed: 7, chains, apiKey: 'another-key' });
  const { url, query } = await freshDatabase();
  const cwd = await emptyFolder();
  const operations = { 'user-operations': {}, factories: {} };
  // JSON is YAML.
  const file = JSON.stringify({ deployment: 'one', chains: [{ id: plainChain.id, operations }] });
  await writeFile(join(cwd, 'explorer-etl.yaml'), file);
  const env = {
    DATABASE_URL: url,
    EXPLORER_BASE_URL: simulator.url,
    EXPLORER_API_KEY: 'another-key',
  };
  expect((await command(['sync'], { env, cwd })).code).toBe(0);
  const refused = startProgram(['start'], { databaseUrl: url, explorerUrl: simulator.url, cwd });
  await eventually('it to be at work', async () => refused.isReady);
  expect((await command(['feeds', 'run', '--all'], { env, cwd })).code).toBe(0);
  const waiting = 'select from etl.lanes where due_at > now() and worker is null';
  await eventually('both lists to wait', async () => (await query(waiting)).length === 2);

  const isRead = async () =>
    (await query(waiting)).length === 0 &&
    (await query('select from etl.feeds where failure is null')).length === 2;
  const untilRead = async (output: () => string) => {
    await eventually('it to be at work', async () => output().includes('start.ready'));
    await eventually('both lists to be read', isRead);
  };
  const start = (until: typeof untilRead) => command(['start'], { env, cwd, until });
  const over = Promise.withResolvers<void>();
  const first = start(() => over.promise);
  const atWork = 'select from etl.workers';
  await eventually('both to be at work', async () => (await query(atWork)).length === 2);
  refused.kill('SIGTERM');
  await refused.ended();
  const { code } = await start(untilRead);
  over.resolve();

  expect([code, (await first).code]).toEqual([0, 0]);
});
