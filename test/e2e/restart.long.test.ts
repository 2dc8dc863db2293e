import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { SimulatedChain } from '../../simulator/index.ts';
import { simulated } from '../harness/explorer.ts';
import { freshDatabase } from '../harness/database.ts';
import { configFolder, eventually, startProgram } from '../harness/process.ts';
import { plainChain } from '../harness/sync.ts';
import { yearly } from '../harness/world.ts';

const chainOf = (id: number): SimulatedChain => ({
  ...plainChain,
  id,
  name: `chain-${id}`,
  userOperations: 5_000_000,
  factories: 100,
});

const small = { id: 10, operations: { factories: { schedule: yearly } } };
/** Added when nothing of another chain may be asked any more: by its first request that would show. */
const later = { id: 30, operations: { factories: { schedule: yearly } } };
const large = { id: 20, operations: { 'user-operations': { schedule: yearly, parallel: 1 } } };

/** A running `start` whose configuration the test rewrites. */
async function scene(chains: readonly object[]) {
  const seen = new Map<number, number>();
  const simulator = await simulated({
    seed: 4,
    chains: [chainOf(10), chainOf(20), chainOf(30)],
    latencyMs: 50,
    onRequest: ({ chainId }) => void seen.set(chainId, (seen.get(chainId) ?? 0) + 1),
  });
  const { pool, url } = await freshDatabase();
  const cwd = await configFolder({});
  const explorer = { requests_per_second: 1000 };
  const configure = (list: readonly object[]) =>
    writeFile(join(cwd, 'explorer-etl.yaml'), JSON.stringify({ explorer, chains: list }));
  await configure(chains);
  const start = () =>
    startProgram(['start'], { databaseUrl: url, explorerUrl: simulator.url, cwd });
  const program = start();
  const requestsOf = (id: number) => seen.get(id) ?? 0;
  return {
    pool,
    program,
    start,
    requestsOf,
    configure,
    untilRead: (id: number) =>
      eventually(`requests for chain ${id}`, async () => requestsOf(id) > 0),
  };
}

test('a feed that is removed from the configuration costs nothing after a restart', async () => {
  const { pool, program, start, requestsOf, configure, untilRead } = await scene([small, large]);
  await untilRead(20);
  program.kill('SIGKILL');
  await program.ended();
  const before = requestsOf(20);
  const runOf20 = `select state from etl.runs where chain_id = 20`;
  expect((await pool.query(runOf20)).rows).toEqual([{ state: 'open' }]);

  await configure([small, later]);
  const second = start();

  await eventually('the feed to be set aside', async () => {
    const { rows } = await pool.query<{ state: string }>(runOf20);
    return rows[0]?.state === 'superseded';
  });
  await untilRead(30);
  expect(requestsOf(20)).toBe(before);
  expect(second.isRunning).toBe(true);
});
