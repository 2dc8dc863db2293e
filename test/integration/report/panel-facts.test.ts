import { drizzle } from 'drizzle-orm/node-postgres';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createPool } from '../../../src/db/pool.ts';
import type { Database } from '../../../src/db/transaction.ts';
import type { StatusDocument } from '../../../src/documents/status.ts';
import { StatementTimeoutError } from '../../../src/query/failure.ts';
import { questions, readQuestion } from '../../../src/query/question.ts';
import { askQuestion } from '../../../src/report/ask.ts';
import { describedTable, searchDictionary } from '../../../src/report/dictionary.ts';
import { readNeeds } from '../../../src/report/needs-you.ts';
import { describeStatus } from '../../../src/report/status-document.ts';
import { readTerm } from '../../../src/report/why/term.ts';
import { findWhy } from '../../../src/report/why/why.ts';
import type { TestDatabase } from '../../harness/database.ts';
import { copiedChains, servedPanel } from '../../harness/panels.ts';

const both = [10, 42220];

/** As the service may name things: markup, an address that runs, a direction mark, 100 kB. */
const hostile = `"><script>alert(1)</script>javascript:alert(1)\u202E${'x'.repeat(100_000)}`;

let database: TestDatabase;
let db: Database;

async function one(text: string): Promise<string> {
  const { rows } = await database.pool.query<{ value: string }>(`select (${text})::text as value`);
  const value = rows[0]?.value;
  if (value === undefined || value === null) throw new Error(`nothing answers ${text}`);
  return value;
}

const needs = async () => readNeeds(db, await describeStatus(db, { pageSize: 50, standby: null }));

async function explained(what: string, of: readonly number[] = both) {
  const term = readTerm(what);
  if (term === null) throw new Error(`${what} is no term`);
  return (await findWhy(db, term, of)).found;
}

const panel = (
  id: string,
  query: Readonly<Record<string, string>> = {},
  from: { readonly from: Database; readonly told?: StatusDocument } = { from: db },
) => servedPanel(id, query, from);

beforeAll(async () => {
  database = await copiedChains();
  db = drizzle(database.pool);
});
afterAll(() => database?.drop());

describe('why a row is there', () => {
  test('an operation names its page, its walk and the item that it came from', async () => {
    const hash = await one('select max(hash) from explorer.user_operations where chain_id = 10');
    const [found, ...others] = await explained(hash.toUpperCase().replace('0X', '0x'));
    expect(others).toEqual([]);
    expect(found).toMatchObject({
      table: 'explorer.user_operations',
      column: 'hash',
      isCut: false,
    });
    const [row] = found!.rows;
    expect(row?.key).toEqual({ chain_id: 10, hash });
    expect(row?.origin).toMatchObject({
      feed: '10/user-operations',
      lane: 'backfill',
      credits: 20,
    });
    expect(row?.origin?.page_id).toBe(row?.page_id);
    expect(row?.archived).toMatchObject({ is: 'item' });
    expect(JSON.stringify(row?.archived).toLowerCase()).toContain(hash);
  });

  test('an address is found as itself, as a factory with its history, and with what it sent', async () => {
    const address = await one(
      'select min(address_hash) from explorer.factories where chain_id = 10',
    );
    const sender = await one(
      `select min(address_hash) from explorer.user_operations where chain_id = 10`,
    );
    const tables = (await explained(address)).map(({ table }) => table);
    expect(tables).toEqual(
      expect.arrayContaining([
        'explorer.addresses',
        'explorer.factories',
        'explorer.factory_history',
      ]),
    );
    expect((await explained(sender)).map(({ table, column }) => `${table}.${column}`)).toContain(
      'explorer.user_operations.address_hash',
    );
  });

  test('a height is that of a block of each chain, and a number that of a batch', async () => {
    const height = await one('select min(height) from explorer.blocks where chain_id = 10');
    const blocks = (await explained(height)).find(({ table }) => table === 'explorer.blocks');
    expect(blocks?.rows.map(({ key }) => key)).toContainEqual({
      chain_id: 10,
      height: Number(height),
    });
    expect((await explained(height, [42220])).flatMap(({ rows }) => rows)).not.toContainEqual(
      expect.objectContaining({ chain_id: 10 }),
    );
    const batches = await explained('2');
    expect(batches.find(({ table }) => table === 'explorer.read_batches')?.rows).toHaveLength(2);
    const carried = batches.find(({ column }) => column === 'optimism_batch_number');
    expect([carried?.rows.length, carried?.isCut]).toEqual([3, true]);
  });

  test('what changed it since is told: another hash, lateness, leaving the list', async () => {
    const old = `0x${'ab'.repeat(32)}`;
    const block = `select height from explorer.blocks where chain_id = 10 order by height limit 1`;
    const height = await one(block);
    const hash = await one(
      `select hash from explorer.blocks where chain_id = 10 and height = (${block})`,
    );
    await database.pool.query(
      `insert into explorer.block_reorgs (chain_id, height, old_hash, new_hash, observed_at, page_id)
       select chain_id, height, $1, hash, now(), page_id from explorer.blocks
       where chain_id = 10 and height = $2`,
      [old, height],
    );
    const [replaced] = await explained(hash);
    expect(replaced?.rows[0]?.changes).toMatchObject([{ is: 'replaced', old_hash: old }]);
    expect((await explained(old)).map(({ table }) => table)).toEqual(['explorer.block_reorgs']);

    const gone = await one('select min(hash) from explorer.user_operations where chain_id = 10');
    await database.pool.query(
      `with gone as (
         update explorer.user_operations set removed_at = now() where chain_id = 10 and hash = $1
         returning *
       )
       insert into etl.late_arrivals (chain_id, operation, key, height, timestamp, seen_at, page_id)
       select chain_id, 'user-operations', hash, block_number, now() - interval '1 hour', now(), page_id
       from gone`,
      [gone],
    );
    const [late] = await explained(gone);
    expect(late?.rows[0]?.removed_at).not.toBeNull();
    expect(late?.rows[0]?.changes).toMatchObject([{ is: 'late', late_s: 3600 }]);
  });

  test('nothing has it', async () => {
    expect(await explained(`0x${'0'.repeat(64)}`)).toEqual([]);
    expect(await explained('9223372036854775807')).toEqual([]);
    expect(await explained('1', [])).toEqual([]);
  });

  test.each([
    ['zzz', '', 'can’t be looked up'],
    ["1'; drop table explorer.blocks", '', 'can’t be looked up'],
    ['1', '99', 'no such chain'],
    ['1', "10' or true", 'no such chain'],
  ])('%s of chain %j is refused in words', async (what, chain, words) => {
    expect(await panel('why', { 'why-what': what, 'why-chain': chain })).toContain(words);
  });
});

test('a database that takes too long is told of, by each panel for itself', async () => {
  const hasty = createPool({
    url: database.url,
    max: 1,
    applicationName: 'explorer-etl test',
    settings: { statement_timeout: '200' },
  });
  const told = await describeStatus(db, { pageSize: 50, standby: null });
  const holder = await database.pool.connect();
  try {
    await holder.query(
      'begin; lock table explorer.blocks, explorer.block_reorgs, explorer.factories',
    );
    const asked = { 'why-what': '5', 'explore-question': 'biggest-factories' };
    const from = drizzle(hasty);
    expect(await panel('why', asked, { from, told })).toContain(
      'took longer than this page lets it',
    );
    expect(await panel('needs-you', asked, { from, told })).toContain("This can't be shown now");
  } finally {
    await holder.query('rollback');
    holder.release();
    await hasty.end();
  }
  expect(await panel('why', { 'why-what': '5' })).toContain('No row has this number');
});

describe('what needs somebody', () => {
  test('is nothing where all is well', async () => {
    const { advice, quarantine } = await needs();
    expect(quarantine).toEqual({ count: 0, isAtLeast: false, newest: [] });
    expect(advice.filter(({ command }) => command?.includes('quarantine'))).toEqual([]);
  });

  test('is told by its newest, with how many there are', async () => {
    await database.pool.query(
      `insert into etl.quarantine (chain_id, operation, scope, raw, raw_hash, reason, page_id, position, dropped_at)
       select 10, 'user-operations', '{}',
              jsonb_build_object('at', n, 'url', 'https://x/?apikey=secret-of-mine', 'name', $1::text),
              n::text, 'hash: ' || $1, 1, n, case when n = 6 then now() end
       from generate_series(1, 6) as n`,
      [hostile],
    );
    await database.pool.query(
      `insert into etl.late_arrivals (chain_id, operation, key, height, timestamp, seen_at, page_id)
       select 10, 'user-operations', n::text, n, now(), now() - make_interval(days => n / 1500 * 30), n
       from generate_series(1, 2000) as n`,
    );
    const { quarantine, late, reorgs } = await needs();
    expect(quarantine.count).toBe(5);
    expect(quarantine.newest.map(({ raw }) => /"at": (\d)/u.exec(raw)?.[1])).toEqual([
      '5',
      '4',
      '3',
    ]);
    expect(JSON.stringify(quarantine)).not.toContain('secret-of-mine');
    expect(
      quarantine.newest.every(({ raw, raw_length }) => raw.length < 3_000 && raw_length > 100_000),
    ).toBe(true);
    expect([late.count, late.isAtLeast, late.newest.length]).toEqual([1_000, true, 3]);
    expect(reorgs.newest.length).toBeLessThanOrEqual(3);
  });
});

describe('exploring', () => {
  test('every question is asked and shown, with its statement', async () => {
    for (const { name } of questions()) {
      const text = await panel('explore', { 'explore-question': name });
      expect(text, name).toMatch(/class="answer"|The answer is empty/u);
      expect(text).toContain('SQL of this question');
    }
  });

  test('an answer is cut at a thousand rows', async () => {
    const many = readQuestion('many', 'select n, $$a$$ as t from generate_series(1, 3000) as n');
    const table = await askQuestion(database.pool, many, {}, 5_000);
    expect([table.rows.length, table.isCut]).toEqual([1000, true]);
    expect(table.columns).toEqual([
      { name: 'n', type: 'integer', isNumber: true },
      { name: 't', type: 'text', isNumber: false },
    ]);
  });

  test('a question that takes too long, or writes, is refused', async () => {
    const slow = readQuestion('slow', 'select pg_sleep(600)');
    await expect(askQuestion(database.pool, slow, {}, 50)).rejects.toThrow(StatementTimeoutError);
    const writing = readQuestion(
      'writing',
      'with gone as (delete from explorer.blocks returning 1) select 1',
    );
    await expect(askQuestion(database.pool, writing, {}, 5_000)).rejects.toThrow(/read-only/u);
  });

  test.each([
    [{ 'explore-question': 'top-senders', 'explore-days': '0' }, 'Days are a whole number'],
    [
      { 'explore-question': 'top-senders', 'explore-limit': '101' },
      'Rows are a whole number from 1 to 100',
    ],
    [
      { 'explore-question': 'top-senders', 'explore-chain': '1; drop' },
      'The chain is a whole number',
    ],
    [{ 'explore-question': '../../etc/passwd' }, 'no question of this name'],
    [{ 'explore-table': 'etl.budget' }, 'There is no table'],
    [{ 'explore-word': '%_\\' }, 'Nothing has'],
  ])('%j is refused in words', async (query, words) => {
    expect(await panel('explore', query)).toContain(words);
  });

  test('the dictionary is searched, and tells a table', async () => {
    const found = await searchDictionary(db, 'WEI');
    const table = await describedTable(db, 'blocks');
    if (found.is !== 'search' || table.is !== 'table') throw new Error('another answer');
    expect(found.entries.map(({ column }) => column)).toContain('base_fee_per_gas');
    expect(table.entries[0]).toMatchObject({ column: null, kind: 'table' });
    expect((await searchDictionary(db, 'e')).is === 'search').toBe(true);
    expect(await searchDictionary(db, 'block')).toMatchObject({ isCut: true });
  });
});

test('whatever others named things, the panels hold none of their markup', async () => {
  await database.pool.query('update explorer.addresses set name = $1, ens_domain_name = $1', [
    hostile,
  ]);
  await database.pool.query('update explorer.chains set name = left($1, 60)', [hostile]);
  await database.pool.query(`update etl.walks set reason = $1`, [hostile]);
  const address = await one('select min(address_hash) from explorer.factories where chain_id = 10');
  for (const text of [
    await panel('needs-you'),
    await panel('why', { 'why-what': address }),
    await panel('why', { 'why-what': hostile.slice(0, 500) }),
    await panel('explore', {
      'explore-question': 'biggest-factories',
      'explore-word': hostile.slice(0, 90),
    }),
  ]) {
    expect(text).not.toMatch(/<script|href="javascript|\u202E/u);
    expect(text).toContain('&lt;script&gt;');
    expect(text.length).toBeLessThan(60_000);
  }
});
