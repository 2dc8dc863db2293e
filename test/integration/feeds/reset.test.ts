import { expect, inject, test } from 'vitest';
import type { StatusDocument } from '../../../src/status/schema.ts';
import { eventually } from '../../harness/process.ts';
import { inLong } from '../../harness/long-cases.ts';
import { differences } from '../../harness/tables.ts';
import { chains, everyKind, listed, openDeployments, seed } from './scene.ts';
const [optimism] = chains;
if (optimism === undefined) throw new Error('no chain');

test.runIf(inject('isLong'))(
  'a feed of each kind that is reset is read again from nothing to the same rows',
  async () => {
    const { database, deploy, simulator } = await openDeployments();
    const { run, documentOf } = await deploy('production', { 10: listed(everyKind) });
    const first = simulator.requests;
    expect((await run('sync')).code).toBe(0);
    const cost = simulator.requests - first;
    const rowsOf = async () =>
      (await documentOf<StatusDocument>('status')).feeds.map(({ feed, rows }) => [feed, rows]);
    const rows = await rowsOf();
    const unconfirmed = await run('feeds', 'reset', '--all');
    expect(unconfirmed).toMatchObject({ code: 2, stderr: expect.stringContaining('add --yes') });
    expect((await run('verify')).code).toBe(0);

    expect((await run('feeds', 'reset', '--all', '--yes')).code).toBe(0);

    expect((await run('verify')).code).toBe(1);
    const before = simulator.requests;
    expect(await run('sync')).toMatchObject({ code: 0 });
    // A few requests depend on how fast the newest batch is found.
    expect(simulator.requests - before).toBeGreaterThan(cost / 2);
    expect(await run('verify')).toMatchObject({ code: 0 });
    expect(await rowsOf()).toEqual(rows);
    expect(await differences(database.pool, seed, optimism, { operations: everyKind })).toEqual({});
  },
);

test.runIf(inject('isLong'))(
  'a feed that is forgotten leaves no row in the tables of the program, and none of its data with --rows',
  async () => {
    const { deploy, database } = await openDeployments();
    const { run, write, documentOf } = await deploy('production', {
      10: listed(everyKind),
      8453: listed(everyKind),
    });
    await run('sync');
    const before = await rowsByTable();
    // A feed that the file names is wanted.
    const forget = async (chain: 10 | 8453, ...flags: readonly string[]) => {
      await write({ [chain === 10 ? 8453 : 10]: listed(everyKind) });
      await run('sync');
      return await run('feeds', 'forget', '--chain', String(chain), ...flags, '--yes');
    };

    expect((await forget(8453)).code).toBe(0);
    expect(await rowsByTable()).toEqual(before);
    expect(await tablesOf('8453/%')).toEqual([]);
    expect((await run('status', '--all')).stdout).not.toMatch(/^base/mu);
    expect(await differences(database.pool, seed, optimism, { operations: everyKind })).toEqual({});
    expect((await run('check', '--no-requests')).code).toBe(0);

    expect((await forget(10, '--rows')).code).toBe(0);
    expect(await tablesOf('10/%')).toEqual([]);
    expect(await rowsByTable()).toEqual(before.filter(({ chain_id }) => chain_id === 8453));
    const rows = before.find(({ name, chain_id }) => name === 'factories' && chain_id === 8453);
    const status = await documentOf<StatusDocument>('status');
    const counted = status.feeds.find(({ feed }) => feed === '8453/factories');
    expect(counted?.rows).toBe(rows?.count);

    /** Tables of schema etl, but the timeline, with rows of such feeds. */
    async function tablesOf(feeds: string) {
      const tables = await database.query(`
      select table_name from information_schema.columns join pg_tables on tablename = table_name
      where table_schema = 'etl' and schemaname = 'etl' and column_name = 'feed'`);
      const found = [];
      for (const { table_name: table } of tables) {
        if (table === 'events') continue;
        found.push(
          ...(await database.query(`select feed from etl.${table} where feed like $1`, [feeds])),
        );
      }
      expect(tables.length).toBeGreaterThan(10);
      return found;
    }

    async function rowsByTable() {
      return await database.query(`
      select 'operations' as name, chain_id::int, count(*)::int from explorer.user_operations group by 2
      union all select 'factories', chain_id::int, count(*)::int from explorer.factories group by 2
      union all select 'blocks', chain_id::int, count(*)::int from explorer.blocks group by 2
      order by 1, 2`);
    }
  },
);

test('the outage of an explorer concerns feeds that are wanted, and ends with the last that is forgotten', async () => {
  const { deploy, database } = await openDeployments();
  const { run, write, documentOf } = await deploy('production', {
    10: listed(['factories']),
    8453: listed(['factories']),
  });
  await run('sync');
  await write({ 10: listed(['factories']) });
  await run('sync');
  // The feed that is at rest has an explorer of its own.
  await database.query(
    `update etl.feeds set origin = 'https://gone.example' where chain_id = 8453`,
  );
  await database.query(`
    insert into etl.hosts (origin, failing_since, failure, reason, next_try_at)
    select origin, make_timestamptz(2026, case chain_id when 10 then 2 else 1 end, 1, 0, 0, 0, 'UTC'),
           'unreachable', 'connection refused', now()
    from etl.feeds`);
  expect((await documentOf<StatusDocument>('status')).overall).toMatchObject({
    sentence: expect.stringContaining('since 2026-02-01 00:00 UTC'),
    since: '2026-02-01T00:00:00+00:00',
  });

  await run('feeds', 'forget', '--chain', '8453', '--yes');

  const origins = await database.query('select origin from etl.hosts');
  expect(origins).toEqual(await database.query('select origin from etl.feeds'));
});

test.each(['reset', ...inLong('forget')])(
  'a feed that is read meanwhile can be %s, and its worker writes nothing more',
  async (how) => {
    const { database, deploy, simulator } = await openDeployments({
      latencyMs: 20,
      userOperations: 1_500,
    });
    const { run } = await deploy('production', { 10: listed(['user-operations']) });
    const syncing = run('sync', '--since', 'all');
    await eventually(
      'pages to be stored',
      async () => (await database.query('select from etl.pages')).length > 0,
    );

    // A sync at work wants it: it is not forgotten.
    const ended = await run('feeds', how, '--all', '--yes');

    expect(ended.code).toBe(how === 'reset' ? 0 : 2);
    await syncing;
    expect(simulator.requests).toBeGreaterThan(0);
    expect((await run('sync')).code).toBe(0);
    expect((await run('verify')).code).toBe(0);
    expect(await database.query('select from explorer.user_operations')).toHaveLength(1_500);
  },
);
