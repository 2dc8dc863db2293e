import { expect, test } from 'vitest';
import { freshDatabase } from '../../harness/database.ts';
import { answered } from '../../harness/explorer.ts';
import { plainChain, runSync } from '../../harness/sync.ts';

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

test('an unreadable count is not stored: the known one stays, and the history gets no row', async () => {
  const { list, sync, missing, counts } = await factoriesWorld();
  list.accounts = new Map<number, unknown>([
    [1, 30],
    [2, 20],
  ]);
  await sync();
  list.accounts = new Map<number, unknown>([
    [1, 31],
    [2, -20],
  ]);

  await sync();

  expect(await missing()).toEqual([]);
  expect(await counts()).toEqual([
    [31, 20],
    [30, 31, 20],
  ]);
});
