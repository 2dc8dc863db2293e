import { expect, test } from 'vitest';
import type { OpenDatabase } from '../../harness/database.ts';
import { sumUp } from '../../harness/ledger.ts';
import { addOperations, answerTo, atBlock, chainWith, pick } from './answers.ts';

test('an account is new only if the list is complete from its beginning', async () => {
  const database = await chainWith({ 'user-operations': '{[0,3000]}' });
  const { query, db } = database;
  // A day has 1440 blocks: the second day has 10 operations, of which 3 are by an old account.
  await addOperations(database, 0, 9);
  await addOperations(database, 1440, 1446);
  await addOperations(database, 1447, 1449, `'0x' || lpad('1', 40, '0')`);
  await sumUp(db);
  const answers = async () =>
    pick(await answerTo(database, 'new-senders'), 'new_senders', 'first_seen');
  const caveats = async (name: string) => [
    ...new Set((await answerTo(database, name)).map(({ caveat }) => caveat)),
  ];
  expect(await answers()).toEqual([
    ['7', '7'],
    ['10', '10'],
  ]);
  expect(await caveats('new-senders')).toEqual([null]);
  expect(pick(await answerTo(database, 'weekly-actives'), 'senders', 'new_senders')).toEqual([
    ['17', '17'],
  ]);

  // History before block 5 was not asked for.
  await query(`update etl.coverage set verified = '{[5,3000]}'`);
  expect(await answers()).toEqual([
    [null, '7'],
    [null, '10'],
  ]);
  for (const name of ['new-senders', 'weekly-actives', 'cohorts']) {
    expect(await caveats(name), name).toEqual(['not stored before 2026-06-01 00:05']);
  }
  expect(pick(await answerTo(database, 'weekly-actives'), 'senders', 'new_senders')).toEqual([
    ['17', null],
  ]);

  // A gap from block 1441 on: of the second day nothing is certain.
  await query(`update etl.coverage set verified = '{[0,1440],[1445,3000]}'`);
  expect(await answers()).toEqual([
    [null, '7'],
    ['10', '10'],
  ]);
  expect(await caveats('new-senders')).toEqual(['incomplete after 2026-06-02 00:00']);

  await query(`delete from etl.coverage`);
  expect(await caveats('new-senders')).toEqual(['not complete anywhere']);
});

test('bundlers share the operations of blocks that both lists cover', async () => {
  const database = await chainWith({
    'user-operations': '{[0,1000]}',
    bundles: '{[801,1000]}',
  });
  const { query, db } = database;
  await addOperations(database, 1, 1000);
  // One has no time, and none is known of its block.
  await addOperations(database, 0, 0);
  await query(`update explorer.user_operations set timestamp = null where block_number = 0`);
  await sumUp(db);
  // 31 of the 199 known ones by a, all others by b; not known are one below the coverage and one of two bundlers.
  await query(
    `insert into explorer.bundles (chain_id, transaction_hash, bundle_index, block_number, timestamp, bundler_hash, total_ops, page_id)
     select 10, '0xt' || block, 0, block, case when block > 801 then ${atBlock('block')} end, case when block <= 831 then '0xa' else '0xb' end, 1, 1
     from generate_series(801, 1000) as block
     union all
     select 10, '0xt5', 0, 5, ${atBlock('5')}, '0xa', 1, 1
     union all
     select 10, '0xt900', 1, 900, ${atBlock('900')}, '0xa', 1, 1`,
  );
  const rows = await answerTo(database, 'bundler-share');
  expect(
    pick(rows, 'bundler_hash', 'operations', 'percent', 'percent_known', 'untimed', 'from', 'to'),
  ).toEqual(
    [
      ['0xb', '168', '84.4', '19.9', '1'],
      ['0xa', '31', '15.6', '19.9', '1'],
    ].map((row) => [...row, new Date('2026-06-01T13:21:00Z'), new Date('2026-06-01T16:40:00Z')]),
  );

  await query(`delete from etl.coverage where feed = '10/bundles'`);
  expect(await answerTo(database, 'bundler-share')).toMatchObject([
    { bundler_hash: null, percent: null, percent_known: '0.0' },
  ]);
});

test('a bundle without a time has that of its block, and is counted if it has none', async () => {
  const database = await chainWith({ bundles: '{[0,100]}' });
  const { query, db } = database;
  await addOperations(database, 1, 1);
  await query(
    `insert into explorer.bundles (chain_id, transaction_hash, bundle_index, block_number, timestamp, bundler_hash, total_ops, page_id)
     values (10, '0x1', 0, 1, null, '0xa', 3, 1), (10, '0x2', 0, 2, ${atBlock('2')}, '0xa', 3, 1),
            (10, '0x3', 0, 3, null, '0xa', 3, 1)`,
  );
  await sumUp(db);
  expect(await answerTo(database, 'bundle-sizes')).toMatchObject([
    { operations: '3', bundles: '2', percent: null, untimed: '1' },
  ]);
  expect(
    await query(
      `select tx_hash, block_time_source from explorer.bundles_enriched order by tx_hash`,
    ),
  ).toEqual([
    { tx_hash: '0x1', block_time_source: 'sibling' },
    { tx_hash: '0x2', block_time_source: 'bundle' },
    { tx_hash: '0x3', block_time_source: null },
  ]);
});

/** Rankings of addresses: a total for each at each time, published together. */
async function rankedAt(
  { query }: OpenDatabase,
  list: 'factory' | 'paymaster' | 'bundler',
  total: string,
  rankings: Readonly<Record<string, Readonly<Record<string, number>>>>,
) {
  const table = list === 'factory' ? 'factories' : `${list}s`;
  for (const [at, totals] of Object.entries(rankings)) {
    const entries = Object.entries(totals).toSorted(([, a], [, b]) => b - a);
    for (const [place, [address, count]] of entries.entries()) {
      await query(
        `insert into explorer.${table} (chain_id, address_hash, ${total}, rank, page_id) values (10, $1, $2, $3, 1)
         on conflict (chain_id, address_hash) do update set ${total} = excluded.${total}, rank = excluded.rank`,
        [address, count, place + 1],
      );
      await query(
        `insert into explorer.${list}_history (chain_id, address_hash, observed_at, ${total}, page_id)
         values (10, $1, $2, $3, 1)`,
        [address, at, count],
      );
    }
  }
}

test('paymasters share the operations between two rankings that complete operations cover', async () => {
  const database = await chainWith({ 'user-operations': '{[1000,2000]}' });
  const { query, db } = database;
  // Between the rankings, at blocks 1200 and 1300, there are 100 operations.
  await addOperations(database, 1000, 2000);
  // One has no time, and none is known of its block.
  await addOperations(database, 5000, 5000);
  await query(`update explorer.user_operations set timestamp = null where block_number = 5000`);
  await rankedAt(database, 'paymaster', 'total_ops', {
    '2026-06-01T10:00:00Z': { '0xp': 700 },
    '2026-06-01T20:00:00Z': { '0xp': 1000 },
    '2026-06-01T21:40:00Z': { '0xp': 1060, '0xq': 20 },
    '2026-06-03T21:40:00Z': { '0xp': 9000, '0xq': 9000 },
  });
  await sumUp(db);
  const shown = [
    'address_hash',
    'paid_of_known',
    'known_operations',
    'percent',
    'percent_up_to',
    'caveat',
  ];
  const answer = async () => pick(await answerTo(database, 'sponsored-share'), ...shown);
  expect(pick(await answerTo(database, 'sponsored-share'), 'untimed')).toEqual([['1'], ['1']]);
  expect(await answer()).toEqual([
    ['0xp', '60', '100', '60.0', '60.0', null],
    ['0xq', '20', '100', '20.0', '80.0', null],
  ]);

  // Then only one ranking lies within: nothing can be compared.
  await query(`update etl.coverage set verified = '{[1250,2000]}'`);
  const none = 'no two rankings within the complete history';
  expect((await answer()).map((row) => row.slice(3))).toEqual([
    [null, null, none],
    [null, null, none],
  ]);

  // From the beginning: 1060 and 20 of the 301 that are stored by then cannot be.
  await query(`update etl.coverage set verified = '{[0,2000]}'`);
  expect((await answer()).map((row) => row.slice(2))).toEqual([
    ['301', null, null, 'rankings count more operations than are listed'],
    ['301', null, null, 'rankings count more operations than are listed'],
  ]);
  await addOperations(database, 0, 1898, `'0x' || repeat('f', 40)`);
  await sumUp(db);
  // 1301 more up to block 1300: 1602 in all.
  expect(await answer()).toEqual([
    ['0xp', '1060', '1602', '66.2', '66.2', null],
    ['0xq', '20', '1602', '1.2', '67.4', null],
  ]);
});

test.each([
  ['factory', 'total_accounts', 'factory-growth', 'new_accounts'],
  ['bundler', 'total_ops', 'bundler-growth', 'new_operations'],
] as const)('a %s that an earlier ranking lacks began at 0', async (list, total, name, growth) => {
  const database = await chainWith({});
  const grown = async () => pick(await answerTo(database, name), 'address_hash', growth, 'from');
  const first = '2026-06-01T00:00:00Z';
  await rankedAt(database, list, total, { [first]: { '0xa': 100, '0xb': 50 } });
  expect(await grown()).toEqual([
    ['0xa', null, new Date(first)],
    ['0xb', null, new Date(first)],
  ]);
  await rankedAt(database, list, total, {
    '2026-06-11T00:00:00Z': { '0xa': 110, '0xc': 900 },
  });
  expect(await grown()).toEqual([
    ['0xc', '900', new Date(first)],
    ['0xa', '10', new Date(first)],
    ['0xb', '0', new Date(first)],
  ]);
});

test('the accounts of a factory that a later ranking brings are new on its first day', async () => {
  const database = await chainWith({});
  await rankedAt(database, 'factory', 'total_accounts', {
    '2026-06-01T00:00:00Z': { '0xa': 100 },
    '2026-06-03T00:00:00Z': { '0xb': 900 },
  });
  const rows = await database.query(
    `select address_hash, new_accounts from explorer.factory_daily
     where day in ('2026-06-01', '2026-06-03') order by day, address_hash`,
  );
  expect(rows).toEqual([
    { address_hash: '0xa', new_accounts: null },
    { address_hash: '0xa', new_accounts: '0' },
    { address_hash: '0xb', new_accounts: '900' },
  ]);
});

test('explorer.chain_daily says how much of a day its blocks are', async () => {
  const database = await chainWith({});
  const { query, db } = database;
  const addBlocks = (first: number, last: number) =>
    query(
      `insert into explorer.blocks (chain_id, height, hash, timestamp, transactions_count, page_id)
       select 10, height, '0x' || height, timestamptz '2026-06-01Z' + make_interval(secs => 2 * height), 1, 1
       from generate_series($1::int, $2::int) as height`,
      [first, last],
    );
  // An hour, then with a second hour that is a gap away, of blocks of 2 s: 1800 and 3600 of 43200.
  await addBlocks(7_200, 8_999);
  await sumUp(db);
  const shown = async () =>
    pick(await answerTo(database, 'chain-daily'), 'blocks', 'from', 'to', 'percent_known');
  const first = new Date('2026-06-01T04:00:00Z');
  expect(await shown()).toEqual([['1800', first, new Date('2026-06-01T04:59:58Z'), 4.2]]);
  await addBlocks(18_000, 19_799);
  await sumUp(db);
  expect(await shown()).toEqual([['3600', first, new Date('2026-06-01T10:59:58Z'), 8.3]]);
});

test('operations without a time are counted where they are left out', async () => {
  const database = await chainWith({ 'user-operations': '{[0,1000]}' });
  await addOperations(database, 1, 30);
  await database.query(
    `update explorer.user_operations set timestamp = null where block_number between 1 and 7`,
  );
  await sumUp(database.db);
  for (const name of [
    'operations-daily',
    'failures-daily',
    'entry-points',
    'busiest-hours',
    'eip7702-share',
    'wallet-failures',
    'top-senders',
    'weekly-actives',
    'new-senders',
    'cohorts',
  ]) {
    const untimed = pick(await answerTo(database, name), 'untimed');
    expect(new Set(untimed.flat()), name).toEqual(new Set(['7']));
  }
});

test.each([
  [19, null],
  [20, '100.0'],
])('of %i operations the share that failed is %s', async (operations, percent) => {
  const database = await chainWith({ 'user-operations': '{[0,1000]}' });
  await addOperations(database, 1, operations);
  await database.query('update explorer.user_operations set status = false');
  await sumUp(database.db);
  for (const [name, column] of [
    ['wallet-failures', 'failed_percent'],
    ['failures-daily', 'failed_percent'],
    ['entry-points', 'percent'],
    ['cohorts', 'percent'],
  ] as const) {
    expect(pick(await answerTo(database, name), column), name).toEqual([[percent]]);
  }
});
