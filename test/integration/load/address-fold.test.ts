import fc from 'fast-check';
import { expect, test } from 'vitest';
import { freshDatabase } from '../../harness/database.ts';
import { addressOf, hashOf, load, loadOneByOne, type ServedPage } from './loader.ts';
import { rowsOf, shown } from './observations.ts';

/** Each sequence is loaded twice, in a few milliseconds. */
const sequences = 60;

/** An operation in each page; few hashes and addresses, so that they meet again. */
const pages: fc.Arbitrary<ServedPage[]> = fc
  .array(
    fc
      .tuple(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 1, max: 2 }))
      .chain(([item, sender]) =>
        fc.record({
          hash: fc.constant(hashOf(item)),
          address: shown(addressOf(sender)),
          entry_point: shown(addressOf(3)),
        }),
      ),
    { minLength: 2, maxLength: 5 },
  )
  .map((items) => items.map((item, index) => ({ page_id: index + 1, items: [item] })));

test('pages loaded in one transaction leave the same rows as in one transaction each', async () => {
  const { pool } = await freshDatabase();
  let chain = 1;
  await fc.assert(
    fc.asyncProperty(pages, async (served) => {
      const [together, apart] = [chain, chain + 1];
      chain += 2;
      await load(pool, 'user-operations', served, together);
      await loadOneByOne(pool, 'user-operations', served, apart);
      expect(await rowsOf(pool, together)).toEqual(await rowsOf(pool, apart));
    }),
    { numRuns: sequences },
  );
});
