import { expect, test } from 'vitest';
import { operations } from '../../../src/lists/registry.ts';
import { tableName } from '../../../src/db/column-types.ts';
import { oneEach, range } from '../../harness/kept.ts';
import { ledgerFaults } from '../../harness/ledger.ts';
import { followLists } from '../../harness/sync.ts';
import { beforeTheNewest, emptyHead, forThePage, isTop, rows } from './empty-head.ts';
import { forTheEnd, lyingList, pageSize, pages } from './lying-list.ts';

/** Two answers from above all heights must agree, instead of one more from the head. */
const fromTheTop = 2;

// More false answers are in `empty-head.long.test.ts`.

test.each(['user-operations', 'bundles', 'optimism-batches'] as const)(
  'an empty first page of %s that leads on hides no row, however often it is repeated',
  async (name) => {
    const listed = range(1, rows).map((number) => ({ number }));
    const lists = { operations: oneEach(1, rows), listed };
    const { list, sync, open, query, pool } = await followLists(lists, {
      operations: [name],
      pageSize,
    });
    list.lie = emptyHead;

    await sync();

    const [stored] = await query(`select count(*)::int from ${tableName(operations[name].table)}`);
    expect({ open: await open(), stored }).toEqual({ open: [], stored: { count: rows } });
    expect(await ledgerFaults(pool, 'ended')).toEqual({});
  },
);

test('a poll whose first page is empty and leads on misses no new operation', async () => {
  const { list, sync, expectComplete } = await lyingList();
  await sync();
  list.operations.push(...oneEach(rows + 1, rows + pageSize));
  list.lie = emptyHead;

  await sync();

  await expectComplete();
});

test('a first page that is empty by mistake costs two requests from above all heights', async () => {
  const { list, sync, expectComplete } = await lyingList();
  list.lie = emptyHead;

  expect(await sync()).toBe(pages + fromTheTop + forTheEnd);

  await expectComplete();
});

test('a first page that is empty from above all heights too is followed where it leads', async () => {
  const { list, sync, expectComplete, pool } = await lyingList();
  list.lie = (_, { cursor }) => (cursor === null || isTop(cursor) ? beforeTheNewest : null);

  expect(await sync()).toBe(pages + forThePage + fromTheTop + forTheEnd);

  await expectComplete();
  expect(await ledgerFaults(pool, 'ended')).toEqual({});
});

test('a walk of one page may be empty from above all heights too', async () => {
  const { list, sync, query } = await lyingList();
  list.lie = (_, { cursor }) => (cursor === null || isTop(cursor) ? beforeTheNewest : null);

  expect(await sync({ maxPages: 1 })).toBe(forThePage + fromTheTop);

  expect(await query('select state, reason, items from etl.walks')).toEqual([
    { state: 'finished', reason: 'max-pages', items: '0' },
  ]);
});
