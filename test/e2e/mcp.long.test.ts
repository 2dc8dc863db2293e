import { expect, onTestFinished, test } from 'vitest';
import { roles } from '../../src/db/roles.ts';
import { sharedDatabase, userWith } from '../harness/database.ts';
import { eventually } from '../harness/process.ts';
import { feedsOf, fillInPart, openSession } from './mcp-session.ts';

const database = sharedDatabase(fillInPart);

test('the lists of a view are those whose rows it shows, also if it is summed up', async () => {
  const { answer } = await openSession(database.url);
  const [operations, factories] = ['10/user-operations', '10/factories'];
  for (const [view, lists] of [
    ['operations_enriched', [operations]],
    ['senders', [operations]],
    ['fees_daily', [operations]],
    ['operations_weekly', [operations]],
    ['factory_daily', [factories]],
    ['addresses', [factories, operations]],
    ['findings', [factories, operations]],
  ] as const) {
    const answered = await answer('query', { sql: `select from explorer.${view} limit 1` });
    expect(feedsOf(answered), view).toEqual(lists);
  }
});

const endless = 'select count(*) from generate_series(1, 1000000000000)';
const running = () =>
  database.query(`select from pg_stat_activity where query = '${endless}' and state = 'active'`);

test('a statement ends in the database when the client cancels its call, or leaves', async () => {
  const { client, request, query } = await openSession(database.url, ['--timeout', '0']);
  const stop = new AbortController();
  const cancelled = request('query', { sql: endless }, stop.signal).catch(() => 'cancelled');
  await eventually('it to run', async () => (await running()).length > 0);
  stop.abort();
  expect(await cancelled).toBe('cancelled');
  await eventually('it to end', async () => (await running()).length === 0);

  const left = query(endless).catch(() => 'left');
  await eventually('it to run again', async () => (await running()).length > 0);
  await client.close();
  expect(await left).toBe('left');
  await eventually('it to end again', async () => (await running()).length === 0);
});

test('findings that take longer than --timeout are unknown, and the answer says so', async () => {
  const [{ definition }] = await database.query(
    `select pg_get_functiondef('etl.all_findings'::regproc) as definition`,
  );
  onTestFinished(() => database.query(definition).then(undefined));
  await database.query(definition.replace('begin\n', 'begin perform pg_sleep(3600);\n'));
  // Other statements take less.
  const { answer } = await openSession(database.url, ['--timeout', '10s']);
  const count = await answer('query', { sql: 'select count(*) from explorer.user_operations' });
  expect(count).toMatchObject({ rows: [[50]], lists: [{ open_findings: null }] });
  expect(count.lists?.[0]?.complete).toHaveLength(1);
  expect(count.caution).toMatch(/10\/user-operations \(unknown\)/u);
});

test('a quick statement is answered although what is complete takes longer than --timeout', async () => {
  const { answer } = await openSession(database.url, ['--timeout', '5s']);
  const locker = await database.pool.connect();
  onTestFinished(() => locker.release(true));
  await locker.query('begin; lock table etl.coverage in access exclusive mode');
  const count = await answer('query', { sql: 'select count(*) from explorer.user_operations' });
  expect(count).toMatchObject({ rows: [[50]], lists: null });
  expect(count.caution).toMatch(/^Not known what is complete/u);
});

test('a view that is made while a client is connected has the lists behind it', async () => {
  const { answer } = await openSession(database.url);
  await database.query('create view public.later as select hash from explorer.user_operations');
  const sql = 'select count(*) from explorer.factories, public.later';
  expect(feedsOf(await answer('query', { sql }))).toEqual(['10/factories', '10/user-operations']);
});

test('an analyst reads all but the status, with the state of the lists', async () => {
  const { url } = await userWith(database, roles.analyst);
  const { answer, query } = await openSession(url);
  const count = await answer('query', { sql: 'select count(*) from explorer.factories' });
  expect(count).toMatchObject({ rows: [[10]], lists: [{ feed: '10/factories' }] });
  expect((await query('table explorer.address_watchlist_names')).text).toMatch(
    /permission denied/u,
  );
  const status = await answer('status');
  expect(status['overall']).toMatchObject({
    sentence: expect.stringMatching(/permission denied/u),
  });
  expect(feedsOf(status)).toEqual(['10/factories', '10/user-operations']);
});
