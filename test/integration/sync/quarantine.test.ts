import { drizzle } from 'drizzle-orm/node-postgres';
import { expect, test } from 'vitest';
import { verifyFeeds } from '../../../src/status/verify.ts';
import { inWords, openInWords } from '../../harness/findings.ts';
import type { SimulatedChain } from '../../../simulator/index.ts';
import { retryQuarantined } from '../../../src/quarantine/retry.ts';
import {
  dropQuarantined,
  listQuarantined,
  type QuarantineFilter,
} from '../../../src/quarantine/list.ts';
import { alterExplorer } from '../../harness/explorer.ts';
import { freshDatabase } from '../../harness/database.ts';
import { ledgerFaults } from '../../harness/ledger.ts';
import { runSync } from '../../harness/sync.ts';
import { differences } from '../../harness/tables.ts';

const seed = 5;
const chain: SimulatedChain = {
  id: 10,
  name: 'optimism',
  family: 'optimism',
  generation: 'v12',
  userOperations: 120,
  batches: { first: 1, count: 3, blocks: 70 },
  factories: 60,
};
const all: QuarantineFilter = { chains: [], operations: [], ids: [], reason: null };

const hashOf = (address: string | { hash: string }) =>
  typeof address === 'string' ? address : address.hash;

/** A copy in which the first item of each page went to quarantine, for a hash that is none. */
async function world(operations: readonly string[]) {
  const explorer = await alterExplorer(seed, chain);
  const database = await freshDatabase();
  const db = drizzle(database.pool);
  const { pool } = database;
  const sync = () => runSync(database, { url: explorer.url, chains: [chain], operations });
  const spoil = () => {
    const spoiled = new Set<string>();
    const clean = new Set<string>();
    explorer.alter = (page) => {
      for (const [index, item] of page.items.entries()) {
        // A factory is known by its address, everything else by its hash.
        const field = 'hash' in item ? 'hash' : 'address';
        const hash = hashOf(item[field] as string | { hash: string });
        // Once spoiled, always, and never after it was served well: on another page it stands elsewhere.
        if (index === 0 && !clean.has(hash)) spoiled.add(hash);
        if (spoiled.has(hash)) item[field] = `?${hash}`;
        else clean.add(hash);
      }
      return page;
    };
  };
  const fixService = () => {
    explorer.alter = (page) => page;
  };
  /** What a fixed version would do: the marks of the spoiled items can be read. */
  const fix = () =>
    pool.query(`update etl.quarantine set raw = replace(raw::text, '"?', '"')::jsonb`);
  const equal = () => differences(pool, seed, chain, { operations: operations as never });
  return { explorer, pool, db, sync, spoil, fixService, fix, equal };
}

test('items that can be read now become the rows that they would have been', async () => {
  const operations = ['user-operations', 'optimism-batch-blocks'];
  const { pool, db, sync, spoil, fixService, fix, equal } = await world(operations);
  spoil();
  await sync();
  const quarantined = (await listQuarantined(db, all)).length;
  await fix();

  const { rows, written, kept } = await retryQuarantined(db, all);

  expect([rows.length, written, kept]).toEqual([quarantined, quarantined, []]);
  // The end of the lowest batch, which nobody verifies, is believed when it was seen once more.
  expect(Object.keys(await equal())).toEqual([expect.stringMatching(/^read_batches /)]);
  fixService();
  await sync();
  expect(await equal()).toEqual({});
  expect(await ledgerFaults(pool, 'ended')).toEqual({});
  expect(await listQuarantined(db, all)).toEqual([]);
  const open = openInWords(await verifyFeeds(db));
  expect(open.filter((finding) => /quarantine|do not meet/.test(finding))).toEqual([]);
});

test('a block that can be read now is in its batch, and its page has served it', async () => {
  const operations = ['optimism-batch-blocks'];
  const { pool, db, sync, spoil, fixService, fix, equal } = await world(operations);
  spoil();
  await sync();
  await fix();
  // One after the other, so that pages of one walk are without a bad item before the others.
  for (const { id } of await listQuarantined(db, all)) {
    await retryQuarantined(db, { ...all, ids: [id] });
  }

  expect(Object.keys(await equal())).toEqual([expect.stringMatching(/^read_batches /)]);
  fixService();
  await sync();
  expect(await equal()).toEqual({});
  const { rows: unserved } = await pool.query(
    `select height from explorer.blocks
     where not exists (
       select from etl.pages join etl.walks on walks.id = walk_id
       where batch = optimism_batch_number and height <@ heights
     )`,
  );
  expect(unserved).toEqual([]);
});

test('a row is of the page that served the item', async () => {
  const { pool, db, sync, spoil, fix } = await world(['user-operations']);
  spoil();
  await sync();
  const [first] = await listQuarantined(db, all);
  await fix();
  await retryQuarantined(db, { ...all, ids: [first!.id] });
  const { rows } = await pool.query(
    `select page_id::int from explorer.user_operations where hash = $1`,
    [(first!.raw as { hash: string }).hash.slice(1).toLowerCase()],
  );
  expect(rows).toEqual([{ page_id: first!.page_id }]);
});

test('what a newer page has reported since is not overwritten', async () => {
  const { pool, db, sync, spoil, fixService, fix, equal } = await world(['factories']);
  spoil();
  await sync();
  await pool.query(
    `update etl.quarantine set raw = jsonb_set(raw, '{total_accounts}', '987654321')`,
  );
  fixService();
  await sync();
  await fix();

  const { rows, written } = await retryQuarantined(db, all);

  expect([rows.length, written]).toEqual([2, 0]);
  expect(await equal()).toEqual({});
  expect(await listQuarantined(db, all)).toEqual([]);
});

test('an item that is served again is of the page that served it last', async () => {
  const { db, sync, spoil } = await world(['factories']);
  spoil();
  await sync();
  const before = await listQuarantined(db, all);
  await sync();
  const after = await listQuarantined(db, all);
  expect(after.map(({ id }) => id)).toEqual(before.map(({ id }) => id));
  expect(after.every(({ page_id }, index) => page_id > before[index]!.page_id)).toBe(true);
});

test('what still cannot be read stays, with the reason as it is now', async () => {
  const { pool, db, sync, spoil } = await world(['user-operations']);
  spoil();
  await sync();
  const before = await listQuarantined(db, all);
  await pool.query(`update etl.quarantine set reason = 'as an older version said'`);

  const { rows, kept } = await retryQuarantined(db, all);

  expect(rows).toEqual([]);
  expect(kept.map(({ reason }) => reason)).toEqual(before.map(({ reason }) => reason));
  expect(await listQuarantined(db, all)).toEqual(before);
});

test('an item that was cut for its depth stays: what is left of it is not what was said', async () => {
  const { explorer, db, sync } = await world(['user-operations']);
  explorer.alter = (page) => {
    const [first] = page.items;
    if (first !== undefined) first['note'] = JSON.parse(`${'['.repeat(200)}${']'.repeat(200)}`);
    return page;
  };
  await sync();
  const quarantined = (await listQuarantined(db, all)).length;

  const { rows, kept } = await retryQuarantined(db, all);

  expect([rows.length, kept.length]).toEqual([0, quarantined]);
  expect(kept[0]?.reason).toBe('nested deeper than 128 levels');
});

test('filters choose by chain, operation, id and a part of the reason', async () => {
  const { pool, db, sync, spoil } = await world(['user-operations', 'factories']);
  spoil();
  await sync();
  await pool.query(`update etl.quarantine set reason = 'odd: 100% wrong' where id = 1`);
  const feeds = async (filter: Partial<QuarantineFilter>) =>
    (await listQuarantined(db, { ...all, ...filter })).map(({ feed }) => feed);
  expect(new Set(await feeds({}))).toEqual(new Set(['10/user-operations', '10/factories']));
  expect(new Set(await feeds({ operations: ['factories'] }))).toEqual(new Set(['10/factories']));
  expect(await feeds({ chains: [11] })).toEqual([]);
  expect(await feeds({ chains: [10], ids: [1], reason: '100% w' })).toHaveLength(1);
  const total = (await feeds({})).length;
  expect(await dropQuarantined(db, { ...all, ids: [1] })).toBe(1);
  expect(await feeds({})).toHaveLength(total - 1);
});

test('what is dropped is no longer open, and noted until its place is read without it', async () => {
  const { db, pool, sync, spoil, fixService } = await world(['factories']);
  const report = async () => {
    const { open = [], notes = [] } = (await verifyFeeds(db)).map(inWords)[0] ?? {};
    return { open, notes: notes.filter((note) => note.includes('dropped from quarantine')) };
  };
  spoil();
  await sync();
  expect((await report()).open).toEqual(['2 items in quarantine']);

  expect(await dropQuarantined(db, all)).toBe(2);
  const noted = {
    open: [],
    notes: ['not stored: 2 items dropped from quarantine'],
  };
  expect(await report()).toEqual(noted);
  expect(await listQuarantined(db, all)).toEqual([]);
  expect(await dropQuarantined(db, all)).toBe(0);
  expect(await retryQuarantined(db, all)).toEqual({ rows: [], written: 0, kept: [] });

  // Served again as it was, it is what a person has decided on.
  await sync();
  expect(await report()).toEqual(noted);

  fixService();
  await sync();
  expect(await report()).toEqual({ open: [], notes: [] });
  const { rows } = await pool.query('select from explorer.factories where rank is not null');
  expect(rows).toHaveLength(chain.factories);
});

test('one that was dropped can be tried again by its id', async () => {
  const { db, sync, spoil, fix } = await world(['factories']);
  spoil();
  await sync();
  const ids = (await listQuarantined(db, all)).map(({ id }) => id);
  await dropQuarantined(db, { ...all, ids });
  await fix();

  expect((await retryQuarantined(db, { ...all, ids })).rows).toHaveLength(ids.length);

  const [feed] = (await verifyFeeds(db)).map(inWords);
  expect(feed?.notes.filter((note) => note.includes('dropped from quarantine'))).toEqual([]);
});
