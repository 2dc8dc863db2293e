import { expect, test } from 'vitest';
import type { SimulatedChain } from '../../../simulator/index.ts';
import { operationNames } from '../../../src/lists/registry.ts';
import { replayArchive } from '../../../src/replay/replay.ts';
import { unpackBody } from '../../../src/sync/archive.ts';
import { digest } from '../../../src/sync/page.ts';
import type { UsedDatabase } from '../../harness/database.ts';
import { hashOf, honestly } from '../../harness/kept.ts';
import { eventually, startProgram } from '../../harness/process.ts';
import { plainChain } from '../../harness/sync.ts';
import { lyingList } from '../sync/lying-list.ts';
import { archivedCopy, replayed, storedRows } from './archive.ts';

const chain: SimulatedChain = {
  ...plainChain,
  userOperations: 300,
  batches: { first: 1, count: 4, blocks: 60 },
  factories: 60,
  otherRankings: 30,
};

/** Which transaction wrote a row first: a row that replay adds is new. */
const written = ['first_seen_at'];

/** Rows as an older version left them, which did not know some of the fields. Citus updates by immutable functions only. */
const forgetFields = ({ pool }: UsedDatabase) =>
  pool.query(`
    update explorer.user_operations
    set extra = ('{"fee": ' || coalesce(fee::text, 'null') || '}')::jsonb, fee = null, entry_point_hash = null;
    update explorer.blocks set gas_used = null, miner_hash = null;
    update explorer.addresses set name = null, is_contract = null, proxy_type = null;
    delete from explorer.block_rewards;
  `);

test.each(['v10'] as const)(
  'fields that an older version did not know become columns, without a request (%s)',
  async (generation) => {
    const { database, syncAt, requests } = await archivedCopy({
      ...chain,
      generation,
      family: 'arbitrum',
      oddities: ['duplicates-in-page', 'duplicates-across-pages', 'missing-hash', 'max-wei'],
    });
    const operations = ['user-operations', 'optimism-batch-blocks'] as const;
    await syncAt(0, { operations });
    const [whole, before] = [await storedRows(database, written), requests()];
    await forgetFields(database);

    const { updated, inserted } = await replayed(database);

    expect(await storedRows(database, written)).toEqual(whole);
    const rows = await database.query(`
      select (select count(*)::int from explorer.user_operations)
               + (select count(*)::int from explorer.blocks) as all`);
    expect({ all: updated, inserted }).toEqual({ ...rows[0], inserted: 0 });
    expect(requests()).toBe(before);
  },
);

test('a row of a newer page, which is not archived, stays as that page has it', async () => {
  const { database, syncAt } = await archivedCopy(chain);
  await syncAt(0, { operations: ['user-operations'] });
  const [newer] = await database.query(`
      update explorer.user_operations set fee = 7, page_id = 1000
      where hash = (select min(hash) from explorer.user_operations) returning hash`);

  expect(await replayed(database)).toMatchObject({ pages: 6, updated: 0 });

  const rows = await database.query(`select hash from explorer.user_operations where fee = 7`);
  expect(rows).toEqual([newer]);
});

test('a replay lists no item again that was found to have left the list', async () => {
  const { list, sync, removed, db } = await lyingList();
  const hash = hashOf(2 ** 40);
  list.lieOnce(2, (page) => ({
    ...page,
    items: page.items.map((item, at) => (at === 4 ? { ...item, hash, block_number: '3' } : item)),
  }));
  await sync({ archive: 'all' });
  await sync({ archive: 'all' });
  expect(await removed()).toEqual([hash]);

  expect(await replayed({ db })).toMatchObject({ updated: 0 });

  expect(await removed()).toEqual([hash]);
});

test('a replay lists no item again that two pages showed out of order, and that has left since', async () => {
  const { list, sync, removed, db } = await lyingList();
  const hash = hashOf(2 ** 40);
  list.lie = ({ items, ...page }) => ({
    ...page,
    items: items.map((item) =>
      item['block_number'] === '185' ? { ...item, hash, block_number: '3' } : item,
    ),
  });
  await sync({ archive: 'all' });
  await sync({ archive: 'all', again: true });
  list.lie = honestly;
  await sync({ archive: 'all', again: true });
  expect(await removed()).toEqual([hash]);

  await replayed({ db });

  expect(await removed()).toEqual([hash]);
});

test('a replay that is killed midway and restarted leaves the same rows', async () => {
  const { database, syncAt } = await archivedCopy({ ...chain, userOperations: 2_500 });
  await syncAt(0, { operations: ['user-operations'] });
  const whole = await storedRows(database, written);
  await forgetFields(database);
  const other = await database.pool.connect();
  try {
    // The address that comes last: Citus locks no row of a distributed table.
    const last = await database.query(`
      select address_hash as hash from explorer.user_operations
      where address_hash is not null group by address_hash order by min(page_id) desc limit 1`);
    await other.query('begin');
    await other.query('select from explorer.addresses where hash = $1 for update', [last[0]?.hash]);
    const program = startProgram(['replay', '--quiet'], {
      databaseUrl: database.url,
      explorerUrl: 'http://localhost:1',
      cwd: '/',
    });
    await eventually('it to wait for the row', async () => {
      const rows = await database.query(
        `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      );
      return rows.length > 0;
    });
    program.kill('SIGKILL');
    expect(await program.ended()).toMatchObject({ signal: 'SIGKILL' });
  } finally {
    other.release(true);
  }
  const counts = await database.query(
    `select count(fee) > 0 as restored, count(*) > count(fee) as missing from explorer.user_operations`,
  );
  expect(counts).toEqual([{ restored: true, missing: true }]);

  await replayed(database);

  expect(await storedRows(database, written)).toEqual(whole);
});

test('a signal ends replay between two transactions, which stay', async () => {
  const { database, syncAt } = await archivedCopy({ ...chain, userOperations: 2_500 });
  await syncAt(0, { operations: ['user-operations'] });
  const stop = new AbortController();
  const reason = new Error('SIGINT');
  const pages: number[] = [];
  const onProgress = (so: { readonly pages: number }) => {
    pages.push(so.pages);
    stop.abort(reason);
  };
  const filter = { chains: [], operations: [] };

  const ended = replayArchive(database.db, filter, onProgress, stop.signal);

  await expect(ended).rejects.toBe(reason);
  expect(pages).toEqual([16]);
});

test('an item that an older version could not read becomes a row, and leaves the quarantine', async () => {
  const { database, syncAt } = await archivedCopy(chain);
  await syncAt(0, { operations: ['user-operations'] });
  const { query } = database;
  const whole = await storedRows(database, written);
  const rows = await query(
    'select page_id, body from etl.raw_pages order by page_id offset 2 limit 1',
  );
  const [{ page_id: pageId, body } = { page_id: '', body: Buffer.of() }] = rows;
  const { items } = JSON.parse(String(unpackBody(body))) as { items: { hash: string }[] };
  const [item = { hash: '' }] = items;
  await query('delete from explorer.user_operations where hash = $1', [item.hash]);
  await query(
    `insert into etl.quarantine (chain_id, operation, scope, raw, raw_hash, reason, page_id, position)
     values (10, 'user-operations', '{}', $1, $2, 'not read', $3, 0)`,
    [JSON.stringify(item), digest(JSON.stringify(item)), pageId],
  );
  await query('update etl.pages set rows = 49, inserted = 49, quarantined = 1 where id = $1', [
    pageId,
  ]);

  expect(await replayed(database)).toMatchObject({ released: 1, quarantined: 0 });

  expect(await storedRows(database, written)).toEqual(whole);
  const left = await query(`
    select (select count(*)::int from etl.quarantine) as items,
           (select sum(quarantined)::int from etl.pages) as noted`);
  expect(left).toEqual([{ items: 0, noted: 0 }]);
});

test('a choice of chains and operations leaves other pages out, and ranked lists are never replayed', async () => {
  const { database, syncAt } = await archivedCopy(chain);
  await syncAt(0, { operations: operationNames });
  const pagesOf = async (chains: readonly number[], operations: readonly string[]) =>
    (await replayed(database, { chains, operations })).pages;

  expect(await pagesOf([10], ['user-operations'])).toBe(6);
  expect(await pagesOf([11], [])).toBe(0);
  expect(await pagesOf([], ['factories'])).toBe(0);
});
