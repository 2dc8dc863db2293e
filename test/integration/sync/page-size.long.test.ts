import { describe, expect, test } from 'vitest';
import type { Generation } from '../../../simulator/index.ts';
import { openCopy, smallChain } from '../../harness/sync.ts';

// Of older generations, v11 takes sizes as v10 does; `truth` copies it row for row.
describe.each<Generation>(['v10', 'v12'])('generation %s', (generation) => {
  test.each([
    ['user-operations', { userOperations: 50 }],
    ['factories', { factories: 50 }],
    ['optimism-batch-blocks', { batches: { first: 1, count: 5, blocks: 50 } }],
  ] as const)('needs no further page for exactly one full page of %s', async (operation, size) => {
    const { sync, query } = await openCopy(smallChain({ generation, ...size }));

    await sync({ operations: [operation] });

    expect(
      await query(`select distinct items::int, pages::int from etl.walks where items = 50`),
    ).toEqual([{ items: 50, pages: 1 }]);
  });

  test.each<'end-empty-object' | null>([null, 'end-empty-object'])(
    'spends the fewest requests that the contract allows, with an end that is %s',
    async (oddity) => {
      const oddities = oddity === null ? [] : [oddity];
      const { sync } = await openCopy(smallChain({ generation, oddities }));

      const { requests } = await sync({ operations: ['user-operations', 'factories'] });

      // An end that nothing supports is requested once more, of each list.
      expect(requests).toBe(Math.ceil(460 / 50) + 1 + Math.ceil(210 / 50) + 1);
    },
  );

  test.each([
    ['user-operations', { userOperations: 1000 }],
    ['factories', { factories: 1000 }],
    // Older generations serve pages of 50, whatever is requested.
    ['optimism-batch-blocks', { batches: { first: 1, count: 1, blocks: 1000 } }],
  ] as const)('goes on with a walk of %s in pages of another size', async (operation, size) => {
    const stop = new AbortController();
    let served = 0;
    const { sync, query, differing } = await openCopy(smallChain({ generation, ...size }), {
      onRequest: () => {
        served += 1;
        if (served === 10) stop.abort(new Error('interrupted'));
      },
    });
    const walk = async () =>
      (await query('select items::int, pages::int from etl.walks order by id limit 1'))[0];
    await sync({ operations: [operation], pageSize: 10, signal: stop.signal });
    const begun = await walk();
    expect(begun.items).toBeGreaterThan(0);

    await sync({ operations: [operation], pageSize: 50 });

    const ended = await walk();
    expect(ended.pages - begun.pages).toBe(Math.ceil((ended.items - begun.items) / 50));
    expect(await differing({ operations: [operation] })).toEqual({});
  });
});
