import { expect, test } from 'vitest';
import type { Item, SimulatedChain } from '../../../simulator/index.ts';
import { tableName } from '../../../src/db/column-types.ts';
import {
  dropQuarantined,
  listQuarantined,
  type QuarantineFilter,
  retryQuarantined,
} from '../../../src/quarantine/quarantine.ts';
import { type OperationName, operations as declared } from '../../../src/lists/registry.ts';
import { digest } from '../../../src/sync/page.ts';
import type { ServedPage } from '../../harness/explorer.ts';
import { openCopy, shortChain } from '../../harness/sync.ts';
import { hashOf, oneEach } from '../../harness/kept.ts';
import { ledgerFaults } from '../../harness/ledger.ts';
import { copiedList, lyingList, pages, pageSize } from './lying-list.ts';

const chain = { ...shortChain, batches: { first: 1, count: 3, blocks: 70 }, factories: 60 };

type Filter = Partial<QuarantineFilter>;
const all: QuarantineFilter = { chains: [], operations: [], ids: [], reason: null };

const addressHashOf = (address: string | { hash: string }) =>
  typeof address === 'string' ? address : address.hash;

/** A copy of lists of which the first item of each page went to quarantine, for a hash that is none. */
const spoiled = (...operations: readonly OperationName[]) => spoiledOn([chain], operations);

async function spoiledOn(chains: readonly SimulatedChain[], operations: readonly OperationName[]) {
  const copy = await openCopy(chains, { run: { operations } });
  const { served, sync, pool, db } = copy;
  const bad = new Set<string>();
  const clean = new Set<string>();
  served.alter = (page) => {
    for (const [index, item] of page.items.entries()) {
      // A factory is known by its address, everything else by its hash.
      const field = 'hash' in item ? 'hash' : 'address';
      const hash = addressHashOf(item[field] as string | { hash: string });
      // Once spoiled, always, and never after it was served well: on another page it has another place.
      if (index === 0 && !clean.has(hash)) bad.add(hash);
      if (bad.has(hash)) item[field] = `?${hash}`;
      else clean.add(hash);
    }
    return page;
  };
  await sync();
  return {
    ...copy,
    list: (filter: Filter = {}) => listQuarantined(db, { ...all, ...filter }),
    retry: (filter: Filter = {}) => retryQuarantined(db, { ...all, ...filter }),
    drop: (filter: Filter = {}) => dropQuarantined(db, { ...all, ...filter }),
    /** What a fixed version would do: the marks of the spoiled items can be read. */
    fix: () => pool.query(`update etl.quarantine set raw = replace(raw::text, '"?', '"')::jsonb`),
    /** From now on the service serves nothing spoiled. */
    fixService: () => {
      served.alter = (page) => page;
    },
    equal: () => copy.differing({ operations }),
    faults: () => ledgerFaults(pool, 'ended'),
  };
}

test('items that can be read now become the rows that a sound page would have given', async () => {
  const { open, sync, list, retry, fix, fixService, equal, faults } = await spoiled(
    'user-operations',
    'optimism-batch-blocks',
  );
  const quarantined = (await list()).length;
  await fix();

  const { rows, written, kept } = await retry();

  expect([rows.length, written, kept]).toEqual([quarantined, quarantined, []]);
  // The end of the lowest batch, which nothing verifies, is believed when it was seen once more.
  expect(Object.keys(await equal())).toEqual([expect.stringMatching(/^read_batches /)]);
  fixService();
  await sync();
  expect(await equal()).toEqual({});
  expect(await faults()).toEqual({});
  expect(await list()).toEqual([]);
  expect((await open()).filter((finding) => /quarantine|do not meet/.test(finding))).toEqual([]);
});

test('a block that can be read now belongs to its batch and its page', async () => {
  const { sync, query, list, retry, fix, fixService, equal } =
    await spoiled('optimism-batch-blocks');
  await fix();
  // One after the other, so that pages of one walk are without a bad item before the others.
  for (const { id } of await list()) await retry({ ids: [id] });

  expect(
    await query(`
      select height from explorer.blocks
      where not exists (
        select from etl.pages join etl.walks on walks.id = walk_id
        where batch = optimism_batch_number and height <@ heights
      )`),
  ).toEqual([]);
  expect(await query('select from explorer.read_batches where is_verified')).toHaveLength(1);
  fixService();
  await sync();
  expect(await equal()).toEqual({});
});

test('a block that can be read now describes the batch of its own chain', async () => {
  const other = { ...chain, id: 8453, name: 'base' };
  const { query, retry, fix } = await spoiledOn([chain, other], ['optimism-batch-blocks']);
  await fix();

  await retry();

  expect(
    await query(`
      select chain_id::int from explorer.read_batches where is_verified order by chain_id`),
  ).toEqual([{ chain_id: chain.id }, { chain_id: other.id }]);
});

test('a row is of the page that served the item', async () => {
  const { query, list, retry, fix } = await spoiled('user-operations');
  const [first] = await list();
  await fix();
  await retry({ ids: [first?.id ?? 0] });
  const hash = addressHashOf(first?.raw as { hash: string }).slice(1);
  expect(
    await query(
      `select page_id::int from explorer.user_operations where hash = '${hash.toLowerCase()}'`,
    ),
  ).toEqual([{ page_id: first?.page_id }]);
});

test('retry does not overwrite values of a newer page', async () => {
  const { sync, query, list, retry, fix, fixService, equal } = await spoiled('factories');
  await query(`update etl.quarantine set raw = jsonb_set(raw, '{total_accounts}', '987654321')`);
  fixService();
  await sync();
  await fix();

  const { rows, written } = await retry();

  expect([rows.length, written]).toEqual([2, 0]);
  expect(await equal()).toEqual({});
  expect(await list()).toEqual([]);
});

test('an item that can be read now has left the list if its place was read without it', async () => {
  const { list, sync, query, db, removed, expectComplete } = await lyingList();
  const gone = hashOf(157);
  list.lie = ({ items, ...page }) => ({
    ...page,
    items: items.map((item) => (item['hash'] === gone ? { ...item, hash: `?${gone}` } : item)),
  });
  await sync();
  list.operations = list.operations.filter(({ id }) => id !== 157);
  await sync({ again: true });
  await query(`update etl.quarantine set raw = replace(raw::text, '"?', '"')::jsonb`);

  expect((await retryQuarantined(db, all)).rows).toHaveLength(1);

  expect(await removed()).toEqual([gone]);
  await expectComplete();
});

test('an item of a page of which nothing is in order keeps its known block', async () => {
  const { list, sync, query, db } = await copiedList();
  const moved = (pages - 1) * pageSize - 4;
  list.lieOnce(2, ({ items, ...page }) => ({
    ...page,
    items: items.map((item, at) => ({
      ...item,
      block_number: String(Number(item['block_number']) + 1),
      ...(at === 4 && { hash: `?${String(item['hash'])}` }),
    })),
  }));
  await sync({ overlapMs: 40_000 });
  await query(`update etl.quarantine set raw = replace(raw::text, '"?', '"')::jsonb`);

  expect((await retryQuarantined(db, all)).rows).toHaveLength(1);

  expect(
    await query(`
      select block_number::int as block from explorer.user_operations where hash = '${hashOf(moved)}'
    `),
  ).toEqual([{ block: moved }]);
});

test('an item that only a wrong declaration refused gets the block that its page allows it', async () => {
  const { list, sync, query, db } = await lyingList();
  const served: Item[] = [];
  list.lieOnce(2, ({ items, ...page }) => {
    const wrong = { hash: hashOf(2 ** 40), block_number: '3' };
    served.push(...items.map((item, at) => (at === 4 ? { ...item, ...wrong } : item)));
    return { ...page, items: served };
  });
  await sync();
  const rows = () =>
    query(`
      select hash, block_number::int as block, extra, page_id from explorer.user_operations
      where hash in ('${served
        .slice(4, 6)
        .map(({ hash }) => hash)
        .join(`', '`)}') order by 1`);
  const before = await rows();
  expect(new Set(before.map(({ block }) => block))).toEqual(new Set([185, null]));
  await query('delete from explorer.user_operations where hash = any($1)', [
    before.map(({ hash }) => hash),
  ]);
  // As a version left them that refused items which it would have read now.
  for (const position of [4, 5]) {
    const raw = JSON.stringify(served[position]);
    await query(
      `insert into etl.quarantine (chain_id, operation, scope, raw, raw_hash, reason, page_id, position)
       values (10, 'user-operations', '{}', $1, $2, 'not read', $3, $4)`,
      [raw, digest(raw), before[0]?.page_id, pageSize + position],
    );
  }
  await query('update etl.pages set rows = 8, inserted = 8, quarantined = 2 where id = $1', [
    before[0]?.page_id,
  ]);

  expect((await retryQuarantined(db, all)).rows).toHaveLength(2);

  expect(await rows()).toEqual(before);
});

test('an item that is served again is of the page that served it last', async () => {
  const { sync, list } = await spoiled('factories');
  const before = await list();
  await sync();
  const after = await list();
  expect(after.map(({ id }) => id)).toEqual(before.map(({ id }) => id));
  expect(after.every(({ page_id }, index) => page_id > (before[index]?.page_id ?? 0))).toBe(true);
});

test('an item at the head can be in each block between its neighbours once others are above it', async () => {
  const { list, sync, covered } = await copiedList();
  list.lie = (page) => ({
    ...page,
    items: page.items.map((item) =>
      item['block_number'] === '205' ? { ...item, hash: 'none' } : item,
    ),
  });
  list.operations = [...list.operations, { block: 205, id: 205 }];
  await sync();
  list.operations = [...list.operations, ...oneEach(208, 218)];

  await sync();

  expect(await covered()).toEqual(['0 to 199', '209 to 216']);
});

test('an item that still cannot be read stays, with its current reason', async () => {
  const { query, list, retry } = await spoiled('user-operations');
  const before = await list();
  await query(`update etl.quarantine set reason = 'as an older version said'`);

  const { rows, kept } = await retry();

  expect(rows).toEqual([]);
  expect(kept.map(({ reason }) => reason)).toEqual(before.map(({ reason }) => reason));
  expect(await list()).toEqual(before);
});

test('an item that was truncated for its depth stays', async () => {
  const { served, sync, retry } = await spoiled('user-operations');
  served.alter = (page) => {
    const [first] = page.items;
    if (first !== undefined) first['note'] = JSON.parse(`${'['.repeat(200)}${']'.repeat(200)}`);
    return page;
  };
  await sync();

  const { kept } = await retry({ reason: 'nested' });

  expect(kept.length).toBeGreaterThan(0);
  expect(kept[0]?.reason).toBe('nested deeper than 128 levels');
});

test.each<[OperationName, (items: ServedPage['items']) => unknown]>([
  ['user-operations', (items) => items.splice(1, 0, { ...items[0], fee: '7' })],
  [
    'optimism-batches',
    ([, item = {}]) => Object.assign(item, { number: 999_999, internal_id: 999_999 }),
  ],
])(
  'an item of %s that its page contradicts stays, although it is valid alone',
  async (list, spoil) => {
    const { served, sync, query, db } = await openCopy(
      { ...chain, batches: { first: 1, count: 30, blocks: 2 } },
      { run: { operations: [list] } },
    );
    served.alter = (page) => {
      spoil(page.items);
      return page;
    };
    await sync();
    const rows = () =>
      query(`select t::text from ${tableName(declared[list].table)} as t order by 1`);
    const before = await rows();

    const { rows: released, kept } = await retryQuarantined(db, all);

    expect([released, kept.length > 0]).toEqual([[], true]);
    expect(await rows()).toEqual(before);
  },
);

test('filters choose by chain, operation, id and a part of the reason', async () => {
  const { query, list, drop } = await spoiled('user-operations', 'factories');
  await query(`update etl.quarantine set reason = 'odd: 100% wrong' where id = 1`);
  const feeds = async (filter: Filter) => (await list(filter)).map(({ feed }) => feed);
  expect(new Set(await feeds({}))).toEqual(new Set(['10/user-operations', '10/factories']));
  expect(new Set(await feeds({ operations: ['factories'] }))).toEqual(new Set(['10/factories']));
  expect(await feeds({ chains: [11] })).toEqual([]);
  expect(await feeds({ chains: [10], ids: [1], reason: '100% w' })).toHaveLength(1);
  const total = (await feeds({})).length;
  expect(await drop({ ids: [1] })).toBe(1);
  expect(await feeds({})).toHaveLength(total - 1);
});

test('a dropped item is no longer open, and is noted until its range is read without it', async () => {
  const { reports, sync, query, list, retry, drop, fixService } = await spoiled('factories');
  const report = async () => {
    const { open = [], notes = [] } = (await reports())[0] ?? {};
    return { open, notes: notes.filter((note) => note.includes('dropped from quarantine')) };
  };
  expect((await report()).open).toEqual(['2 items in quarantine']);

  expect(await drop()).toBe(2);
  const noted = { open: [], notes: ['not stored: at least 2 items, dropped from quarantine'] };
  expect(await report()).toEqual(noted);
  expect(await list()).toEqual([]);
  expect(await drop()).toBe(0);
  expect(await retry()).toEqual({ rows: [], written: 0, kept: [] });

  // Served again as it was, it is what a person has decided on.
  await sync();
  expect(await report()).toEqual(noted);

  fixService();
  await sync();
  expect(await report()).toEqual({ open: [], notes: [] });
  expect(await query('select from explorer.factories where rank is not null')).toHaveLength(
    chain.factories,
  );
});

test('a dropped item can be retried by its id', async () => {
  const { reports, list, retry, drop, fix } = await spoiled('user-operations');
  const ids = (await list()).map(({ id }) => id);
  await drop({ ids });
  await fix();

  expect((await retry({ ids })).rows).toHaveLength(ids.length);

  const [feed] = await reports();
  expect(feed?.notes.filter((note) => note.includes('dropped from quarantine'))).toEqual([]);
});
