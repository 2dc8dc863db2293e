import { describe, expect, onTestFinished, test } from 'vitest';
import { startSimulator, type Generation, type SimulatedChain } from '../../../simulator/index.ts';
import { freshDatabase } from '../../harness/database.ts';
import { runSync } from '../../harness/sync.ts';
import { differences } from '../../harness/tables.ts';
import { copyChain, copySeed, smallChain } from './copy.ts';

const generations: readonly Generation[] = ['v10', 'v11', 'v12'];

/** A copy in pages of 10 that is interrupted, and its walk then and when it had gone on in pages of 50. */
async function goOnInLargerPages(chain: SimulatedChain, operation: string) {
  const stop = new AbortController();
  let served = 0;
  const simulator = await startSimulator({
    seed: copySeed,
    chains: [chain],
    onRequest: () => {
      served += 1;
      if (served === 10) stop.abort(new Error('interrupted'));
    },
  });
  onTestFinished(() => simulator.close());
  const database = await freshDatabase();
  const run = { url: simulator.url, chains: [chain], operations: [operation] };
  await runSync(database, { ...run, pageSize: 10, signal: stop.signal });
  const walk = async () => {
    const { rows } = await database.pool.query<{ items: number; pages: number }>(
      `select items::int, pages::int from etl.walks order by id limit 1`,
    );
    return rows[0] ?? { items: 0, pages: 0 };
  };
  const begun = await walk();
  await runSync(database, { ...run, pageSize: 50 });
  return { begun, ended: await walk(), pool: database.pool };
}

describe.each(generations)('generation %s', (generation) => {
  test.each([1, 7, 50])('in pages of %i is copied row for row', async (pageSize) => {
    const chain = smallChain({
      generation,
      userOperations: 61,
      batches: { first: 1, count: 2, blocks: 30 },
      factories: 22,
    });
    const { pool } = await copyChain(chain, { pageSize });
    expect(await differences(pool, copySeed, chain, { withSecretKey: true })).toEqual({});
  });

  test.each([
    ['user-operations', { userOperations: 50 }],
    ['factories', { factories: 50 }],
    ['optimism-batch-blocks', { batches: { first: 1, count: 5, blocks: 50 } }],
  ] as const)('needs no further page for exactly one full page of %s', async (name, size) => {
    const chain = smallChain({ generation, ...size });
    const { pool } = await copyChain(chain, { operations: [name] });
    const full = await pool.query<{ n: number }>(
      `select count(*)::int as n from etl.walks where items = 50`,
    );
    const more = await pool.query<{ n: number }>(
      `select count(*)::int as n from etl.walks where items = 50 and pages > 1`,
    );
    expect(full.rows[0]?.n).toBeGreaterThan(0);
    expect(more.rows).toEqual([{ n: 0 }]);
  });

  test('spends the fewest requests that the contract allows', async () => {
    const chain = smallChain({ generation, userOperations: 460, factories: 210 });
    const { requests } = await copyChain(chain, { operations: ['user-operations', 'factories'] });
    // An end that nothing supports is requested once more, of each list.
    expect(requests()).toBe(Math.ceil(460 / 50) + 1 + Math.ceil(210 / 50) + 1);
  });

  test.each([
    ['user-operations', { userOperations: 1000 }],
    ['factories', { factories: 1000 }],
    // Older generations serve pages of 50, whatever is requested.
    ['optimism-batch-blocks', { batches: { first: 1, count: 1, blocks: 1000 } }],
  ] as const)('goes on with a walk of %s in pages of another size', async (operation, size) => {
    const chain = smallChain({ generation, ...size });
    const { begun, ended, pool } = await goOnInLargerPages(chain, operation);
    expect(begun.items).toBeGreaterThan(0);
    expect(ended.pages - begun.pages).toBe(Math.ceil((ended.items - begun.items) / 50));
    const scope = { operations: [operation] };
    expect(await differences(pool, copySeed, chain, scope)).toEqual({});
  });
});
