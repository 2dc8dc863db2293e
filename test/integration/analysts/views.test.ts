import { expect, test } from 'vitest';
import { questions, statementOf } from '../../../src/query/question.ts';
import { verifyFeeds } from '../../../src/status/verify.ts';
import { openCopied, shortChain } from '../../harness/sync.ts';

const chain = { ...shortChain, batches: { first: 1, count: 8, blocks: 60 }, factories: 12 };
const operations = ['factories', 'optimism-batch-blocks', 'optimism-batches', 'user-operations'];
const feeds = operations.map((operation) => `10/${operation}`);

const copied = (lists: readonly string[] = operations) =>
  openCopied(chain, { run: { operations: lists } });

test('explorer.coverage has the complete ranges of each list, with times, and no gap', async () => {
  const { query } = await copied();

  const coverage = await query(`
    select feed, unit, from_block is null as is_whole, from_at is null as is_timeless,
           to_at >= from_at as is_ordered, as_of <= now() as is_past
    from explorer.coverage order by feed`);

  const range = { is_whole: false, is_timeless: false, is_ordered: true, is_past: true };
  const ranking = { is_whole: true, is_timeless: true, is_ordered: null, is_past: true };
  expect(coverage).toEqual([
    { feed: '10/factories', unit: 'ranking', ...ranking },
    { feed: '10/optimism-batch-blocks', unit: 'batches', ...range },
    { feed: '10/optimism-batches', unit: 'batches', ...range },
    { feed: '10/user-operations', unit: 'blocks', ...range },
  ]);
  expect(await query('select feed from explorer.gaps')).toEqual([]);
});

test('explorer.gaps has a deleted batch and a ranking that was never read', async () => {
  const { query } = await copied();
  await query(`
    delete from explorer.read_batches where batch_number = 4; select etl.recount_batches('%')`);
  await query('delete from etl.rankings');

  expect(
    await query(`
      select feed, from_block, to_block, unit, to_at > from_at as is_between
      from explorer.gaps order by feed`),
  ).toEqual([
    { feed: '10/factories', from_block: null, to_block: null, unit: 'ranking', is_between: null },
    {
      feed: '10/optimism-batch-blocks',
      from_block: '4',
      to_block: '4',
      unit: 'batches',
      is_between: true,
    },
  ]);
  expect(
    await query(`
      select from_block, to_block from explorer.coverage
      where operation = 'optimism-batch-blocks' order by 1`),
  ).toMatchObject([{ from_block: '1', to_block: '3' }, { from_block: '5' }]);
});

test('a feed that is not wanted has no gap, and what-is-missing leaves it out, as verify does', async () => {
  const { query, pool, db } = await copied();
  await query(`
    delete from explorer.read_batches where batch_number = 4; select etl.recount_batches('%');
    delete from etl.rankings;
    update etl.coverage set verified = int8multirange(int8range(max, max + 1))
    from (select max(upper(verified)) - 1 as max from etl.coverage where feed = '10/user-operations') as top
    where feed = '10/user-operations'`);
  const question = questions().filter(({ name }) => name === 'what-is-missing');
  const [{ text, values } = { text: '', values: [] }] = question.map((one) => statementOf(one, {}));
  const of = (rows: readonly object[]) => new Set(rows.map((row) => Reflect.get(row, 'feed')));
  const said = async () => ({
    gaps: of(await query('select feed from explorer.gaps')),
    answer: of((await pool.query(text, [...values])).rows),
    verified: of((await verifyFeeds(db)).filter(({ is_wanted }) => is_wanted)),
  });
  const open = new Set(feeds.filter((feed) => feed !== '10/optimism-batches'));
  const every = new Set(feeds);
  expect(await said()).toEqual({ gaps: open, answer: every, verified: every });

  await query(`update etl.lanes set wanted_by = '{production}' where feed = '10/optimism-batches'`);
  const wanted = new Set(['10/optimism-batches']);
  expect(await said()).toEqual({ gaps: new Set(), answer: wanted, verified: wanted });
});

test('explorer.freshness has the age of each list, and whether that meets the target', async () => {
  const { query } = await copied();
  const stated = () =>
    query(`
      select feed, newest_at is not null as has_newest, looked_at <= now() as has_looked, objective, is_fresh
      from explorer.freshness order by feed`);
  expect(await stated()).toEqual(
    feeds.map((feed) => ({
      feed,
      has_newest: true,
      has_looked: true,
      objective: null,
      is_fresh: null,
    })),
  );

  await query(`update etl.feeds set settings = settings || '{"freshness": 3600000}'`);
  expect(await query('select distinct is_fresh from explorer.freshness')).toEqual([
    { is_fresh: true },
  ]);

  await query(`update etl.runs set opened_at = opened_at - interval '2 hours'`);
  expect(await query('select distinct is_fresh from explorer.freshness')).toEqual([
    { is_fresh: false },
  ]);
  await query('update etl.runs set state = $$failed$$');
  expect(await query('select distinct is_fresh from explorer.freshness')).toEqual([
    { is_fresh: false },
  ]);
});

test('each row names the page that brought it', async () => {
  const { query } = await copied();
  for (const table of ['user_operations', 'blocks', 'factories', 'addresses', 'listed_batches']) {
    expect(
      await query(`
        select count(*) filter (where feed is null or items = 0)::int as unknown, count(*) > 0 as has_rows
        from explorer.${table} left join explorer.provenance using (page_id)`),
    ).toEqual([{ unknown: 0, has_rows: true }]);
  }
});

test('each listed batch has its delay to L1, by its last block or an operation in it', async () => {
  const { query } = await copied();
  const delays = () =>
    query(`
      select count(*)::int as listed, count(l1_delay)::int as known,
             count(*) filter (where l1_delay = l1_timestamp - blocks.timestamp)::int as of_block
      from explorer.optimism_batches
      left join explorer.blocks on blocks.chain_id = 10 and height = l2_end_block_number
      where l1_timestamp is not null`);
  expect(await delays()).toEqual([{ listed: 8, known: 8, of_block: 8 }]);
  await query(`delete from explorer.blocks where height = (
    select min(l2_end_block_number) from explorer.listed_batches)`);
  expect(await delays()).toEqual([{ listed: 8, known: 7, of_block: 7 }]);
  await query(`insert into explorer.user_operations (chain_id, hash, block_number, timestamp, page_id)
    select 10, '0x' || repeat('a', 64), min(l2_end_block_number), now(), 1 from explorer.listed_batches`);
  expect(await delays()).toEqual([{ listed: 8, known: 8, of_block: 7 }]);
});

test('an operation has its batch, names and lateness, in columns named as in Dune', async () => {
  const { query } = await copied();
  await query(`
    insert into etl.late_arrivals (chain_id, operation, key, height, timestamp, seen_at, page_id)
    select chain_id, 'user-operations', hash, block_number, timestamp, timestamp + interval '1 hour', page_id
    from explorer.user_operations order by hash limit 1`);
  await query(`
    update explorer.addresses set name = 'sender' where hash in (
      select address_hash from explorer.user_operations order by hash limit 1
    )`);
  const [first] = await query(`
    select blockchain, enriched.block_number, tx_hash, sender, sender_name, entry_point, success, bundler,
           block_time_source, native_symbol, lateness, raw.fee = fee_native * 1e18 as is_exact, raw.timestamp = block_time as is_same
    from explorer.operations_enriched as enriched
    join explorer.user_operations as raw
      on raw.chain_id = enriched.chain_id and raw.hash = userop_hash
    order by userop_hash limit 1`);
  expect(first).toMatchObject({
    blockchain: 'optimism',
    block_time_source: 'operation',
    sender_name: 'sender',
    native_symbol: 'ETH',
    lateness: { hours: 1 },
    is_exact: true,
    is_same: true,
  });
  const [both] = await query(`
    select (select count(*) from explorer.operations_enriched) as enriched,
           (select count(*) from explorer.user_operations) as raw`);
  expect(both.enriched).toBe(both.raw);
});

test('an operation names its bundler, unless bundles of its transaction have several', async () => {
  const { query } = await copied(['user-operations', 'bundles']);
  const bundlers = async () => {
    const rows = await query(`select distinct tx_hash, bundler from explorer.operations_enriched`);
    return new Map(rows.map((row) => [row.tx_hash, row.bundler]));
  };
  const bundles = await query('select transaction_hash, bundler_hash from explorer.bundles');
  const before = await bundlers();
  expect(before).toEqual(new Map(bundles.map((row) => [row.transaction_hash, row.bundler_hash])));
  const [{ transaction_hash: several }, { transaction_hash: removed }] = await query(
    `select transaction_hash from explorer.bundles group by 1 order by count(*) = 1, 1 limit 2`,
  );
  await query(`update explorer.bundles set bundler_hash = '0x' || repeat('b', 40)
    where transaction_hash = '${several}' and bundle_index = (
      select max(bundle_index) from explorer.bundles where transaction_hash = '${several}')`);
  await query(
    `update explorer.bundles set removed_at = now() where transaction_hash = '${removed}'`,
  );
  expect(await bundlers()).toEqual(new Map([...before, [several, null], [removed, null]]));
});

test('each day has the bundles whose time, or that of their block, is on it', async () => {
  const { query } = await copied(['user-operations', 'bundles']);
  const days = () =>
    query(
      `select bundles::int, operations::int, bundlers::int from explorer.bundles_daily where chain_id = 10`,
    );
  const [sums] = await query(`
    select count(*)::int as bundles, sum(total_ops)::int as operations,
           count(distinct bundler_hash)::int as bundlers
    from explorer.bundles
    where timestamp is not null or block_number in (
      select block_number from explorer.user_operations where timestamp is not null
    )`);
  expect(sums.operations).toBeGreaterThan(100);
  expect(await days()).toEqual([sums]);
});

test('a factory has a row for each day, also for those without a poll, until it is gone', async () => {
  const { query } = await copied(['factories']);
  await query(`
    insert into explorer.factories (chain_id, address_hash, total_accounts, missing_since, page_id) values
      (10, '0xa', 9, '2026-01-05 01:00Z', 1), (10, '0xb', 4, null, 1);
    insert into explorer.factory_history (chain_id, address_hash, observed_at, total_accounts, page_id) values
      (10, '0xa', '2026-01-01 23:00Z', 5, 1), (10, '0xa', '2026-01-03 01:00Z', 6, 1),
      (10, '0xa', '2026-01-03 02:00Z', 9, 1), (10, '0xb', now() - interval '2 days', 4, 1)
  `);
  const rows = await query(`
    select to_char(day, 'DD') as day, total_accounts::int as accounts, new_accounts::int as new
    from explorer.factory_daily where address_hash = '0xa' order by day`);
  expect(rows).toEqual([
    { day: '01', accounts: 5, new: null },
    { day: '02', accounts: 5, new: 0 },
    { day: '03', accounts: 9, new: 4 },
    { day: '04', accounts: 9, new: 0 },
    { day: '05', accounts: 9, new: 0 },
  ]);
  const days = await query(
    `select count(*)::int as days from explorer.factory_daily where address_hash = '0xb'`,
  );
  expect(days).toEqual([{ days: 3 }]);
});
