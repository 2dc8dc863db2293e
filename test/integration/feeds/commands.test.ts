import { expect, test } from 'vitest';
import type { z } from 'zod';
import type { feedsListDocument } from '../../../src/cli/feeds.ts';
import type { SyncDocument } from '../../../src/cli/sync.ts';
import type { StatusDocument } from '../../../src/status/schema.ts';
import { eventually } from '../../harness/process.ts';
import { differences } from '../../harness/tables.ts';
import { yearly } from '../../harness/world.ts';
import { chains, everyKind, listed, openDeployments, seed } from './scene.ts';

const factories = listed(['factories']);
const [optimism] = chains;
if (optimism === undefined) throw new Error('no chain');

test('a paused feed is read by nothing until it is resumed, and is no fault', async () => {
  const { database, deploy, simulator } = await openDeployments();
  const { run, documentOf } = await deploy('production', { 10: factories, 8453: factories });
  await run('sync');
  expect((await run('feeds', 'pause', '--chain', '8453')).stdout).toContain(
    'Paused 8453/factories.',
  );
  const requests = simulator.requests;

  const ended = await documentOf<SyncDocument>('sync', '--chain', '8453');

  expect(simulator.requests).toBe(requests);
  expect(ended).toMatchObject({ lanes: [], paused: ['8453/factories'] });
  const text = (await run('sync', '--chain', '8453')).stdout;
  expect(text.replaceAll(/\s+/gu, ' ')).toBe(
    'Paused, not read: 8453/factories. explorer-etl feeds shows since when; feeds resume goes on. ',
  );
  const status = await documentOf<StatusDocument>('status');
  expect(status.overall).toMatchObject({
    state: 'degraded',
    sentence: expect.stringMatching(/^8453\/factories: Paused since \d\d:\d\d UTC\.$/u),
  });
  expect(status.reasons).toMatchObject([
    {
      code: 'paused',
      severity: 'warning',
      blocks_readiness: false,
      feeds: ['8453/factories'],
      command: 'explorer-etl feeds resume --chain 8453 --operation factories',
    },
  ]);

  expect((await run('feeds', 'resume', '--chain', '8453')).code).toBe(0);
  await run('sync', '--chain', '8453');
  expect(simulator.requests).toBeGreaterThan(requests);
  expect(
    await database.query(`select kind, feed, sentence from etl.events where kind = 'command'`),
  ).toEqual([
    { kind: 'command', feed: '8453/factories', sentence: 'Paused by a person.' },
    { kind: 'command', feed: '8453/factories', sentence: 'Resumed by a person.' },
  ]);
});

test('a start polls a feed at once when a person requests it, and reads a paused one only when it is resumed', async () => {
  const { database, deploy } = await openDeployments();
  const { run, start } = await deploy('production', { 10: factories, 8453: factories });
  const polls = async (feed = '10/factories') =>
    (await database.query("select from etl.runs where state = 'finished' and feed = $1", [feed]))
      .length;
  const process = start();
  await eventually('the first read', async () => (await polls()) === 1);

  expect((await run('feeds', 'run', '--chain', '10')).stdout).toBe(
    'To be polled now: 10/factories.\n',
  );
  await eventually('the requested poll', async () => (await polls()) === 2);

  await run('feeds', 'pause', '--chain', '10');
  expect((await run('feeds', 'run', '--chain', '10')).stderr).toContain('paused: 10/factories');
  const before = await polls('8453/factories');
  await database.query('update etl.lanes set next_due_at = now()');
  await eventually(
    'the other feed to be polled',
    async () => (await polls('8453/factories')) > before,
  );
  expect(await polls()).toBe(2);
  await run('feeds', 'resume', '--chain', '10');
  await eventually('the poll that was missed', async () => (await polls()) === 3);
  process.kill('SIGTERM');
  await process.exit;
});

test('feeds lists each feed with its schedule and who wants it', async () => {
  const { deploy } = await openDeployments();
  const { run, documentOf } = await deploy('production', { 10: factories });
  await run('sync');

  const { feeds } = await documentOf<z.infer<typeof feedsListDocument>>('feeds');

  expect(feeds).toEqual([
    {
      feed: '10/factories',
      state: 'current',
      schedule: yearly,
      timezone: 'UTC',
      next_poll_at: null,
      paused_since: null,
      wanted_by: ['production'],
      is_wanted: true,
    },
  ]);
  expect((await run('feeds')).stdout).toMatch(/10\/factories +current +0 0 1 1 \* +production/u);
  await run('feeds', 'pause', '--all');
  expect((await run('feeds')).stdout).toMatch(/10\/factories +paused since \d\d:\d\d UTC/u);
});

test('a feed of each kind that is reset is read again from nothing to the same rows', async () => {
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
});

test('a feed that is forgotten leaves no row in the tables of the program, and none of its data with --rows', async () => {
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
});

test('a command for no feed says how to choose, and one for an unknown feed where to look', async () => {
  const { deploy } = await openDeployments();
  const { run } = await deploy('production', { 10: factories });
  await run('sync');

  expect(await run('feeds', 'pause')).toMatchObject({
    code: 2,
    stderr: 'explorer-etl: say which feeds: --chain, --operation, or --all.\n',
  });
  expect(await run('feeds', 'pause', '--chain', '8453')).toMatchObject({
    code: 2,
    stderr: 'explorer-etl: no such feed was ever read: explorer-etl feeds lists them.\n',
  });
});

test.each(['reset', 'forget'])(
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
