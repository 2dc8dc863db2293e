import fc from 'fast-check';
import { expect, test } from 'vitest';
import { transact } from '../../../src/db/transaction.ts';
import { noteChanges } from '../../../src/lists/newest-first/commit.ts';
import type { ItemRows, PageEnd } from '../../../src/lists/operation.ts';
import { userOperations } from '../../../src/lists/user-operations/index.ts';
import { freshDatabase } from '../../harness/database.ts';
/** Each case is a handful of statements: a few seconds in all. */
const numRuns = 80;
const pageId = 10;

interface Place {
  readonly height: number;
  readonly key: string;
}

interface Stored extends Place {
  readonly page_id: number;
  readonly is_removed: boolean;
}

/** Most of the time, so that most cases conclude something. */
const often = fc.integer({ min: 0, max: 3 }).map((number) => number > 0);
const keys = fc.constantFrom(...'a b c d e f g h'.split(' '));
const place = fc.record({ height: fc.nat(5), key: keys }).map((where): Place => where);
const isAbove = (a: Place, b: Place) =>
  a.height > b.height || (a.height === b.height && a.key > b.key);
const newestFirst = (a: Place, b: Place) => (isAbove(a, b) ? -1 : 1);

const stored = fc.uniqueArray(
  fc.record({
    height: fc.nat(7),
    key: keys,
    page_id: fc.integer({ min: 1, max: 14 }),
    is_removed: often.map((isIt) => !isIt),
  }),
  { selector: ({ key }) => key, maxLength: 8 },
);
const page = fc.uniqueArray(place, { selector: ({ key }) => key, maxLength: 4 });
/** The end of the page before, where there is one: at or above all that this page holds. */
const before = fc.option(
  fc.record({
    where: fc.record({ height: fc.integer({ min: 3, max: 7 }), key: keys }),
    page_id: fc.integer({ min: 5, max: 9 }),
  }),
);

/** A page of so few items shows at most so many to have left the list. */
const mostGone = 3;
const common = { page_id: 1, is_removed: false };
const four = [1, 2, 3, 4].map((height) => ({ ...common, height, key: `${height}` }));
const aroundThem = [7, 0].map((height) => ({ height, key: '' }));

/** Which operations a page skips, by looking at each. */
function skipped(
  known: readonly Stored[],
  items: readonly Place[],
  previousLast: PageEnd | null,
  isConclusive: boolean,
): string[] {
  const [first, last] = [items[0], items.at(-1)];
  const isSkipped = (operation: Stored): boolean => {
    if (operation.is_removed) return false;
    if (first === undefined || last === undefined || !isConclusive) return false;
    if (items.some(({ key }) => key === operation.key) || !isAbove(operation, last)) return false;
    if (isAbove(first, operation)) return operation.page_id < pageId;
    return (
      previousLast !== null &&
      isAbove(previousLast, operation) &&
      operation.page_id < previousLast.page_id
    );
  };
  return known.filter(isSkipped).map(({ key }) => key);
}

test('removed items lie within the range of a conclusive page, are few, and appear on no newer page', async () => {
  const { query, db } = await freshDatabase();
  await fc.assert(
    fc.asyncProperty(stored, page, before, often, async (known, listed, end, conclusive) => {
      const items = listed.toSorted(newestFirst);
      const first = items[0];
      const previousLast =
        end === null || (first !== undefined && isAbove(first, end.where))
          ? null
          : { ...end.where, page_id: end.page_id };
      await query('truncate explorer.user_operations');
      await query(
        `insert into explorer.user_operations (chain_id, hash, block_number, page_id, removed_at)
         select 10, key, height, page_id, case when is_removed then now() end
         from json_to_recordset($1) as row(key text, height bigint, page_id bigint, is_removed boolean)`,
        [JSON.stringify(known)],
      );

      const isConfirmed = await transact(db, (tx) =>
        noteChanges(
          userOperations,
          tx,
          [
            {
              walk: {
                walk_id: 1,
                run_id: 1,
                chain_id: 10,
                feed: '10/user-operations',
                as_of: new Date(0).toISOString(),
                scope: {},
                floor: null,
                page_id: pageId,
                cursor: null,
                previousLast,
                isConclusive: conclusive,
              },
              isTopRead: true,
              rows: items.map(({ key, height }): ItemRows => ({
                key,
                height,
                row: {},
                children: [],
                addresses: [],
                missing: null,
                position: 0,
              })),
            },
          ],
          0,
          0,
        ),
      );

      const rows = await query(
        'select hash from explorer.user_operations where removed_at is not null order by hash',
      );
      const unseen = skipped(known, items, previousLast, conclusive);
      const left = unseen.length > mostGone ? [] : unseen;
      const gone = known.filter(({ is_removed }) => is_removed).map(({ key }) => key);
      expect(rows.map(({ hash }) => hash)).toEqual([...gone, ...left].sort());
      expect(isConfirmed).toBe(unseen.length <= mostGone);
    }),
    { numRuns, examples: [[four, aroundThem, null, true]] },
  );
});
