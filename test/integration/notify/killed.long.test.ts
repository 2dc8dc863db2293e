import { expect, onTestFinished, test } from 'vitest';
import { startSimulator, type SimulatedChain } from '../../../simulator/index.ts';
import { leaks, secretKey, storedLeaks } from '../../harness/canary.ts';
import { freshDatabase } from '../../harness/database.ts';
import { hangMs } from '../../harness/hang.ts';
import { logLines } from '../../harness/log-lines.ts';
import { configFolder, eventually, startProgram } from '../../harness/process.ts';
import { accept, startReceiver } from '../../harness/receiver.ts';

const chain: SimulatedChain = {
  id: 10,
  name: 'optimism',
  family: 'optimism',
  generation: 'v12',
  userOperations: 120,
  batches: { first: 1, count: 3, blocks: 20 },
  factories: 20,
};

test('a start that is killed while it tells is followed by another that tells it again, and its secret is nowhere', async () => {
  const simulator = await startSimulator({ seed: 7, chains: [chain] });
  onTestFinished(() => simulator.close());
  const database = await freshDatabase();
  const receiver = await startReceiver();
  receiver.answer = () => undefined;
  const cwd = await configFolder({
    notify: { url: `${receiver.origin}/hook/${encodeURIComponent(secretKey)}` },
    chains: [{ id: 10, operations: { 'user-operations': null } }],
  });
  const environment = { databaseUrl: database.url, explorerUrl: simulator.url, cwd };
  const first = startProgram(['start'], environment);
  await eventually('it is told', hangMs, async () => receiver.received.length > 0);
  first.kill('SIGKILL');
  await first.ended(hangMs);
  receiver.answer = accept;
  const second = startProgram(['start'], environment);
  await eventually('it is settled', hangMs, async () => {
    const { rows } = await database.pool.query('select from etl.notices where told is not null');
    return rows.length > 0;
  });
  second.kill('SIGTERM');
  expect(await second.ended(hangMs)).toMatchObject({ code: 0 });
  const bodies = receiver.received.map(({ body }) => body);
  expect(bodies.map(({ number }) => number)).toEqual([1, 1]);
  expect(bodies[1]?.now.kind).toBe(bodies[0]?.now.kind);
  const told = logLines(second.stderr).filter(({ event }) => event === 'notify.delivered');
  expect(told).toMatchObject([{ webhook: receiver.origin, attempt: 2 }]);
  const said = first.stderr + second.stderr + receiver.received.map(({ text }) => text).join('');
  expect(leaks(said)).toEqual([]);
  expect(await storedLeaks(database.pool)).toEqual([]);
});
