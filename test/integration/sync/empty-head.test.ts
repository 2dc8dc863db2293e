import { expect, test } from 'vitest';
import { operations } from '../../../src/lists/registry.ts';
import { tableName } from '../../../src/db/column-types.ts';
import { oneEach, type Page, type PageLie, range } from '../../harness/kept.ts';
import { ledgerFaults } from '../../harness/ledger.ts';
import { followLists } from '../../harness/sync.ts';
import { forTheEnd, lyingList, pageSize, pages, tokenOf } from './lying-list.ts';

const rows = pages * pageSize;

/** Two answers from above all heights must agree, instead of one more from the head. */
const fromTheTop = 2;
/** An empty page that is true is a page more. */
const forThePage = 1;

/** Leads on below the newest page. */
const emptyHead: PageLie = (page, { cursor }) => (cursor === null ? { ...page, items: [] } : null);

const isTop = (cursor: string | null) => cursor?.endsWith('f'.repeat(64)) === true;

const leadsTo = (page_token: string | null): Page => ({
  items: [],
  next_page_params: { page_size: pageSize, page_token },
});

/** The head of a list whose first page is empty and names the newest operation. */
const beforeTheNewest = leadsTo(tokenOf(rows));

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
