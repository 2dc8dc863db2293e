import { expect, test } from 'vitest';
import type { SimulatedChain } from '../../../simulator/index.ts';
import { traceTerm } from '../../../src/status/trace.ts';
import { sharedCopy, plainChain } from '../../harness/sync.ts';

const chains: SimulatedChain[] = [10, 42220].map((id) => ({
  ...plainChain,
  id,
  name: `chain ${id}`,
  userOperations: 120,
  batches: { first: 1, count: 3, blocks: 60 },
  factories: 20,
}));

const database = sharedCopy(11, chains, { archive: 'all' });

async function one(text: string): Promise<string> {
  return (await database.query(`select (${text})::text as value`))[0]?.value ?? '';
}

const trace = (term: string) => traceTerm(database.db, term);
const ofChain10 = 'from explorer.user_operations where chain_id = 10';

test('an operation names its page, its walk and the item that it came from', async () => {
  const hash = await one(`select max(hash) ${ofChain10}`);
  const { is, rows } = await trace(` ${hash.toUpperCase().replace('0X', '0x')} `);
  expect([is, rows.length]).toEqual(['hash', 1]);
  const [row] = rows;
  expect(row).toMatchObject({
    relation: 'explorer.user_operations',
    key: `chain_id=10, hash=${hash}`,
    page: { feed: '10/user-operations' },
    changes: [],
  });
  const values = Object.fromEntries((row?.columns ?? []).map(({ name, value }) => [name, value]));
  expect(values).toMatchObject({ hash, removed_at: null });
  expect(row?.page?.body?.toLowerCase()).toContain(hash);
  const page = `select page_id from explorer.user_operations where hash = '${hash}'`;
  expect(row?.page?.id).toBe(Number(await one(page)));
});

test('values in wei are amounts in the currency of the chain too, and others are none', async () => {
  const hash = await one(`select max(hash) ${ofChain10} and fee > 0`);
  const height = await one('select min(height) from explorer.blocks where chain_id = 10');
  await database.query(`update explorer.chains set native_decimals = 6 where chain_id = 42220`);
  const amounts = async (term: string, chain: string) => {
    const { rows } = await trace(term);
    const own = rows.find(({ key }) => key.startsWith(`chain_id=${chain},`));
    const of = own?.columns.flatMap(({ name, native }) => (native === null ? [] : [name]));
    return { symbol: own?.native_symbol, of, columns: own?.columns ?? [] };
  };
  const operation = await amounts(hash, '10');
  expect(operation).toMatchObject({ symbol: 'ETH', of: ['fee'] });
  const fee = operation.columns.find(({ name }) => name === 'fee');
  const whole = `fee = ${fee?.value} and fee * 1e-18 = '${fee?.native}' and hash = '${hash}'`;
  expect(await one(`select count(*) ${ofChain10} and ${whole}`)).toBe('1');
  const { of: ofBlock } = await amounts(height, '10');
  expect(ofBlock).toEqual(expect.arrayContaining(['priority_fee', 'transaction_fees']));
  // A price of gas is no amount.
  expect(ofBlock).not.toContain('base_fee_per_gas');
  const celo = await amounts(
    await one('select min(height) from explorer.blocks where chain_id = 42220'),
    '42220',
  );
  expect(celo.symbol).toBe('CELO');
  const fees = celo.columns.find(({ name }) => name === 'transaction_fees');
  // Six decimals, as that chain says of its currency.
  expect(fees?.native).toBe(fees?.value?.replace(/(?=\d{6}$)/u, '.'));
});

test("an address is found with its factory, that one's history, and its operations", async () => {
  const factory = await one('select min(address_hash) from explorer.factories where chain_id = 10');
  const relations = (await trace(factory)).rows.map(({ relation }) => relation);
  expect(relations).toEqual(
    expect.arrayContaining([
      'explorer.addresses',
      'explorer.factories',
      'explorer.factory_history',
    ]),
  );
  const sender = await one(`select min(address_hash) ${ofChain10}`);
  const sent = (await trace(sender)).rows.map(({ relation }) => relation);
  expect(sent).toContain('explorer.user_operations');
});

test('a number is traced as a height of every chain and as a batch, with the first rows of many', async () => {
  const height = await one('select min(height) from explorer.blocks where chain_id = 10');
  const keys = (await trace(height)).rows.map(({ key }) => key);
  expect(keys).toContain(`chain_id=10, height=${height}`);
  const { rows } = await trace('2');
  const of = (relation: string) => rows.filter((row) => row.relation === relation).length;
  expect([of('explorer.read_batches'), of('explorer.blocks')]).toEqual([2, 3]);
});

test('changes of a row are listed, the newest first', async () => {
  const hash = await one(`select min(hash) ${ofChain10}`);
  await database.query(
    `with gone as (
       update explorer.user_operations
       set removed_at = now() + interval '2 hours', updated_at = now() + interval '1 hour'
       where chain_id = 10 and hash = $1
       returning *
     )
     insert into etl.late_arrivals (chain_id, operation, key, height, timestamp, seen_at, page_id)
     select chain_id, 'user-operations', hash, block_number, timestamp, now(), page_id from gone`,
    [hash],
  );
  const [row] = (await trace(hash)).rows;
  expect(row?.changes.map(({ sentence }) => sentence)).toEqual([
    'It is no longer in the list.',
    'A later page changed it.',
    'It appeared after its part of the list had been verified.',
  ]);
});

test('a hash that is not stored, and a text that is no term, have no rows', async () => {
  expect(await trace(`0x${'0'.repeat(64)}`)).toMatchObject({ is: 'hash', rows: [] });
  expect(await trace('9223372036854775807')).toMatchObject({ is: 'height', rows: [] });
  const refused = await trace("1'; drop table explorer.blocks");
  expect(refused).toMatchObject({ is: null, rows: [], hint: expect.stringContaining('64') });
});

test('a body that cannot be read, or was pruned, is absent', async () => {
  const hash = await one(`select max(hash) ${ofChain10}`);
  const page = `(select page_id from explorer.user_operations where hash = '${hash}' limit 1)`;
  await database.query(`update etl.raw_pages set body = 'other' where page_id = ${page}`);
  expect((await trace(hash)).rows[0]?.page).toMatchObject({ body: null });
  await database.query(`delete from etl.raw_pages where page_id = ${page}`);
  expect((await trace(hash)).rows[0]?.page).toMatchObject({ body: null });
});
