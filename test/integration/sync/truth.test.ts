import { expect, test } from 'vitest';
import { openFault, type FaultName } from '../../harness/hostile-faults.ts';
import { plainChain, openCopy } from '../../harness/sync.ts';
import { expectTrueCopy } from './truth-copy.ts';
import { inLong } from '../../harness/long-cases.ts';

/** Each generation of the API, and each family of chains; the long suite has other pairs. */
test.each([
  ['optimism', 'v10'],
  ...inLong(['celo', 'v12'] as const, ['arbitrum', 'v11'] as const),
] as const)(
  'a chain of the %s family is copied row for row from generation %s',
  (family, generation) => expectTrueCopy(family, generation),
);

/** Requests whose answers are cut: how a body is announced goes with their number. */
const struck = [0, 2, 4];

test.each<FaultName>(['cut-after-item', 'length-too-short'])(
  'an answer that is damaged once (%s) costs one more request, and the sync goes on',
  async (name) => {
    const pages = 3;
    const fault = openFault(name);
    const { sync, query, differing } = await openCopy(
      { ...plainChain, userOperations: 150 },
      // Each page's first request; a list of three pages is requested in turn.
      { faults: ({ number }) => (struck.includes(number) ? fault : null) },
    );

    const { results, requests } = await sync({ operations: ['user-operations'] });

    expect(results.map(({ state }) => state)).toEqual(['finished']);
    // The end is requested once more, too, because nothing supports it.
    expect(requests).toBe(pages + struck.length + 1);
    expect(await query('select attempts from etl.pages order by sequence')).toEqual([
      { attempts: 2 },
      { attempts: 2 },
      { attempts: 3 },
    ]);
    expect(await differing()).toEqual({});
  },
);
