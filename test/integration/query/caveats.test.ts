import { expect, test } from 'vitest';
import { sumUp } from '../../harness/ledger.ts';
import { addOperations, answerTo, atBlock, chainWith } from './answers.ts';

/** Questions that are about so many days of a list, and name the first of them. */
const ofDays = [
  'operations-daily',
  'failures-daily',
  'fee-percentiles',
  'busiest-hours',
  'wallet-failures',
  'top-senders',
  'bundle-sizes',
  'bundler-share',
];
/** The same of whole weeks. */
const ofWeeks = ['entry-points', 'eip7702-share'];

test('a question says since when its list is complete if its days begin before', async () => {
  const part = '{[0,100],[1500,4000]}';
  const database = await chainWith({ 'user-operations': part, bundles: part });
  const { query, db } = database;
  for (const block of [1, 1500, 3000]) await addOperations(database, block, block);
  await query(`update explorer.user_operations set fee = 1`);
  await query(
    `insert into explorer.bundles (chain_id, transaction_hash, bundle_index, block_number, timestamp, bundler_hash, total_ops, page_id)
     select 10, '0xt' || block, 0, block, ${atBlock('block')}, '0xa', 1, 1
     from unnest(array[1, 1500, 3000]) as block`,
  );
  await sumUp(db);
  const caveatsOf = async (days: number, names = [...ofDays, ...ofWeeks]) => {
    const answers = await Promise.all(names.map((name) => answerTo(database, name, { days })));
    return [...new Set(answers.flat().map(({ caveat }) => caveat))];
  };
  expect(await caveatsOf(30)).toEqual(['incomplete before 2026-06-02 01:00']);
  // The third of June alone has no gap, its week has.
  expect(await caveatsOf(1, ofDays)).toEqual([null]);
  expect(await caveatsOf(1, ofWeeks)).toEqual(['incomplete before 2026-06-02 01:00']);

  await query(`update etl.coverage set verified = '{[0,4000]}'`);
  expect(await caveatsOf(30)).toEqual([null]);
  await query(`update etl.coverage set verified = '{[0,100],[5000,6000]}'`);
  expect(await caveatsOf(30)).toEqual(['incomplete']);
  await query('delete from etl.coverage');
  expect(await caveatsOf(30)).toEqual(['not complete anywhere']);
});

test.each(ofWeeks)('the first week of %s is whole', async (name) => {
  const database = await chainWith({ 'user-operations': '{[0,4000]}' });
  // A Monday, and the Wednesday after it.
  for (const block of [1, 3000]) await addOperations(database, block, block);
  await sumUp(database.db);
  const answer = await answerTo(database, name, { days: 1 });
  expect(answer.reduce((sum, { operations }) => sum + Number(operations), 0)).toBe(2);
});

test('a list is not complete up to its newest item if a gap lies above all that is complete', async () => {
  const database = await chainWith({ 'user-operations': '{[0,3000]}' });
  const { query, db } = database;
  await addOperations(database, 0, 3009);
  await sumUp(db);
  const caveatsOf = async (name: string) => [
    ...new Set((await answerTo(database, name)).map(({ caveat }) => caveat)),
  ];
  expect(await caveatsOf('operations-daily')).toEqual([null]);
  expect(await caveatsOf('new-senders')).toEqual([null]);

  // Below the first item of its head, the newest walk verified nothing.
  await query(`
    insert into etl.walks (chain_id, operation, lane, run_id, kind, scope, state, top, bottom)
    select 10, 'user-operations', 'live', id, 'newest-first', '{}', 'finished', 3009, 3001 from etl.runs`);
  expect(await query('select from_block, to_block from explorer.gaps')).toEqual([
    { from_block: '3001', to_block: '3008' },
  ]);
  expect(await caveatsOf('operations-daily')).toEqual(['incomplete']);
  expect(await caveatsOf('new-senders')).toEqual(['incomplete after 2026-06-03 02:00']);
});

test('what a chain lacks is computed without the history of others', async () => {
  const database = await chainWith({ 'user-operations': '{[0,10],[20,3000]}' });
  const { query } = database;
  await addOperations(database, 0, 3000);
  const read = async () => {
    const statement = `select explorer.incompleteness(10, 'user-operations', '2026-06-01')`;
    // The first one fills caches.
    await query(statement);
    const [row] = await query(`explain (analyze, buffers, format json) ${statement}`);
    return Number(row?.['QUERY PLAN'][0].Plan['Shared Hit Blocks']);
  };
  const alone = await read();
  await query(`
    insert into etl.feeds (chain_id, operation, kind, settings)
    select chain_id + n, operation, kind, settings from etl.feeds, generate_series(1, 40) as n;
    insert into etl.coverage (feed, lane, verified)
    select feeds.feed, lane, verified from etl.coverage, etl.feeds where feeds.chain_id > 10;
    insert into explorer.user_operations (chain_id, hash, block_number, timestamp, page_id)
    select chain_id + n, hash, block_number, timestamp, page_id
    from explorer.user_operations, generate_series(1, 40) as n
    where block_number < 50`);
  expect(await read()).toBeLessThan(2 * alone);
});
