import { describe, expect, test } from 'vitest';
import type { Generation } from '../../../src/simulator/index.ts';
import { differences } from '../../support/tables.ts';
import { copyChain, copySeed, smallChain } from './copy.ts';

const generations: readonly Generation[] = ['v10', 'v11', 'v12'];

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
    expect(requests()).toBe(Math.ceil(460 / 50) + Math.ceil(210 / 50));
  });
});
