import { expect, test } from 'vitest';
import { freshDatabase } from '../../harness/database.ts';
import { answered } from '../../harness/explorer.ts';
import { plainChain, runSync } from '../../harness/sync.ts';
import { retryQuarantined } from '../../../src/quarantine/quarantine.ts';

const addressOf = (id: number) => `0x${id.toString(16).padStart(40, '0')}`;

/** Stands for an item whose address is none. */
const noAddress = 'no address';

/** A list of factories on one page, as a test says at the moment. */
async function factoriesWorld() {
  const list = { requests: 0, accounts: new Map<number, unknown>() };
  const url = await answered(() => {
    list.requests += 1;
    const items = [...list.accounts].map(([id, total_accounts]) => ({
      address: { hash: total_accounts === noAddress ? '0x' : addressOf(id) },
      total_accounts,
    }));
    return { body: { items, next_page_params: null } };
  });
  const database = await freshDatabase();
  return {
    list,
    database,
    sync: async (): Promise<number> => {
      list.requests = 0;
      await runSync(database, { url, chains: [plainChain], operations: ['factories'] });
      return list.requests;
    },
    missing: async () =>
      (
        await database.query(
          'select address_hash from explorer.factories where missing_since is not null order by 1',
        )
      ).map(({ address_hash }) => address_hash),
    counts: async () =>
      (
        await database.query(`
          select json_agg(total_accounts order by address_hash) as counts
          from explorer.factories
          union all
          select json_agg(total_accounts order by address_hash, observed_at)
          from explorer.factory_history`)
      ).map(({ counts }) => counts),
  };
}

test('a factory whose item is in quarantine is not marked as missing, and costs no second walk', async () => {
  const { list, sync, missing } = await factoriesWorld();
  list.accounts = new Map([
    [1, 30],
    [2, 20],
    [3, 10],
  ]);
  await sync();
  list.accounts.set(2, noAddress);

  expect(await sync()).toBe(1);

  expect(await missing()).toEqual([]);
  list.accounts.delete(3);
  await sync();
  // The bad item may be either of the two that were not met.
  expect(await missing()).toEqual([]);
  list.accounts.set(2, 20);
  await sync();
  expect(await missing()).toEqual([addressOf(3)]);
});

test('an unreadable count is not stored: the known one ranks its factory, and the history gets no row', async () => {
  const { list, sync, missing, counts, database } = await factoriesWorld();
  list.accounts = new Map<number, unknown>([
    [1, 30],
    [2, 20],
    [3, 10],
  ]);
  await sync();
  list.accounts = new Map<number, unknown>([
    [1, 31],
    [2, -20],
    [3, 10],
  ]);

  await sync();

  expect(await missing()).toEqual([]);
  expect(await counts()).toEqual([
    [31, 20, 10],
    [30, 31, 20, 10],
  ]);
  expect(
    await database.query('select rank::int from explorer.factories order by address_hash'),
  ).toEqual([{ rank: 1 }, { rank: 2 }, { rank: 3 }]);
});

test('an item that can be read now waits for the next ranking: the newest one has no rank for it', async () => {
  const { list, sync, missing, database } = await factoriesWorld();
  const retry = async () => {
    const all = { chains: [], operations: [], ids: [], reason: null };
    const { rows, kept } = await retryQuarantined(database.db, all);
    const covered = await database.query('select from explorer.coverage');
    return { rows: rows.length, kept: kept.length, covered: covered.length };
  };
  list.accounts = new Map<number, unknown>([
    [1, 30],
    [2, noAddress],
    [3, 10],
  ]);
  await sync();
  await database.query(
    `update etl.quarantine set raw = replace(raw::text, '"0x"', '"${addressOf(2)}"')::jsonb`,
  );

  expect(await retry()).toEqual({ rows: 0, kept: 1, covered: 0 });

  list.accounts.set(2, 20);
  await sync();
  expect(await retry()).toEqual({ rows: 1, kept: 0, covered: 1 });
  expect(await database.query('select from explorer.factories where rank is null')).toEqual([]);
  expect(await missing()).toEqual([]);
});
