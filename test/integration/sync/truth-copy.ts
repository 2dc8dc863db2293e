import { expect } from 'vitest';
import type { Family, Generation } from '../../../simulator/index.ts';
import { operationNames } from '../../../src/lists/registry.ts';
import { openCopy, plainChain, secretKey } from '../../harness/sync.ts';

/** A chain of a family, with every list of a generation of the API, is copied row for row. */
export async function expectTrueCopy(family: Family, generation: Generation): Promise<void> {
  const { sync, differing } = await openCopy(
    {
      ...plainChain,
      family,
      generation,
      userOperations: 330,
      batches: { first: 1, count: 27, blocks: 24 },
      gaps: [4],
      factories: 70,
      otherRankings: 50,
    },
    { secretKey },
  );

  const { results } = await sync({ operations: operationNames, pageSize: 20 });

  expect(results.map(({ state, reason }) => ({ state, reason }))).toEqual(
    operationNames.map(() => ({ state: 'finished', reason: null })),
  );
  expect(await differing({ operations: operationNames })).toEqual({});
}
