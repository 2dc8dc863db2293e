import fc from 'fast-check';
import { expect, test } from 'vitest';
import { WrittenObservations } from '../../../src/load/written-observations.ts';
import { freshDatabase } from '../../support/database.ts';
import { addressOf, hashOf, loadOneByOne, type ServedPage } from './loader.ts';
import { rowsOf, shown } from './observations.ts';

/** Each sequence is loaded twice, in a few milliseconds. */
const sequences = 100;

/** Pages in any order, whose operations tell one of few things of one address: so they tell it again. */
const pages: fc.Arbitrary<ServedPage[]> = fc
  .record({
    told: fc.array(shown(addressOf(1)), { minLength: 1, maxLength: 3 }),
    order: fc.uniqueArray(fc.integer({ min: 1, max: 9 }), { minLength: 2, maxLength: 7 }),
    isInOrder: fc.boolean(),
    picks: fc.array(fc.nat(2), { minLength: 7, maxLength: 7 }),
  })
  .map(({ told, order, isInOrder, picks }) =>
    (isInOrder ? order.toSorted((a, b) => a - b) : order).map((page_id, index) => ({
      page_id,
      items: [{ hash: hashOf(page_id), address: told[(picks[index] ?? 0) % told.length] }],
    })),
  );

test('passing over what was told before leaves all columns as writing it again does', async () => {
  const { pool } = await freshDatabase();
  let chain = 1;
  await fc.assert(
    fc.asyncProperty(pages, async (served) => {
      const [plain, passing] = [chain, chain + 1];
      chain += 2;
      await loadOneByOne(pool, 'user-operations', served, plain);
      await loadOneByOne(pool, 'user-operations', served, passing, new WrittenObservations());
      const more = ', page_id, updated_at > first_seen_at as is_changed';
      expect(await rowsOf(pool, passing, more)).toEqual(await rowsOf(pool, plain, more));
    }),
    { numRuns: sequences },
  );
});
