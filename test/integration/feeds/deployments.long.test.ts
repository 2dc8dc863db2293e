import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import type { VerifyDocument } from '../../../src/status/verify.ts';
import type { StatusDocument } from '../../../src/status/schema.ts';
import { openPresence } from '../../../src/sync/workers.ts';
import { eventually } from '../../harness/process.ts';
import { listed, openDeployments } from './scene.ts';

const factories = listed(['factories']);
const both = listed(['factories', 'user-operations']);

test('two deployments on one database keep their feeds and schedules, whichever starts last', async () => {
  const { database, deploy } = await openDeployments();
  const first = await deploy('first', { 10: factories });
  const second = await deploy('second', { 8453: factories });
  for (const { start } of [first, second, first]) {
    const process = start();
    await eventually('it to work', async () => process.output.includes('"start.ready"'));
    await eventually(
      'its list to be read',
      async () =>
        process.output.includes('"feed.updated"') ||
        process.output.includes('"feed.polled"') ||
        (await database.query("select from etl.runs where state = 'finished'")).length > 1,
    );
    process.kill('SIGTERM');
    await process.exit;
  }

  expect(
    await database.query(
      'select feed, wanted_by, next_due_at > now() as scheduled from etl.lanes order by feed',
    ),
  ).toEqual([
    { feed: '10/factories', wanted_by: ['first'], scheduled: true },
    { feed: '8453/factories', wanted_by: ['second'], scheduled: true },
  ]);
  expect(first.start).toBeDefined();
});

test('a feed that its file no longer names keeps its rows, and no screen counts it without --all', async () => {
  const { database, deploy } = await openDeployments();
  const { run, write, documentOf } = await deploy('production', { 10: factories, 8453: both });
  expect((await run('sync')).code).toBe(0);
  await database.query(
    "update etl.feeds set failure = 'unknown-chain', reason = 'no such chain' where feed = '8453/factories'",
  );
  expect((await documentOf<StatusDocument>('status')).overall.state).toBe('action-required');

  await write({ 10: factories });
  expect((await run('sync')).code).toBe(0);

  const status = await documentOf<StatusDocument>('status');
  expect(status.feeds.map(({ feed }) => feed)).toEqual(['10/factories']);
  expect(status.at_rest).toEqual(['8453/user-operations', '8453/factories']);
  const factoriesOf = (chain_name: string, chain: number) => {
    return { feed: `${chain}/factories`, chain_name, label: 'factories' };
  };
  expect(status.names).toEqual(
    expect.arrayContaining([factoriesOf('optimism', 10), factoriesOf('base', 8_453)]),
  );
  expect(status.reasons).toEqual([]);
  const text = (await run('status')).stdout;
  expect(text.replaceAll(/\s+/gu, ' ')).toContain(
    'At rest, wanted by no deployment: 8453/user-operations, 8453/factories; --all shows them.',
  );
  const verified = await documentOf<VerifyDocument>('verify');
  expect(verified.feeds.map(({ feed }) => feed)).toEqual(['10/factories']);
  const all = await documentOf<StatusDocument>('status', '--all');
  expect(all.reasons).toEqual([]);
  expect(all.feeds.map(({ feed, state, sentence }) => [feed, state, sentence])).toEqual([
    ['10/factories', 'current', null],
    ['8453/user-operations', 'paused', 'At rest: no deployment wants it.'],
    ['8453/factories', 'paused', 'At rest: no deployment wants it.'],
  ]);
  const states = (await run('status', '--all')).stdout.match(/(?:at rest|paused) /gu);
  expect(states).toEqual(['at rest ', 'at rest ']);
  await database.query(`delete from etl.rankings where feed = '8453/factories'`);
  const every = await documentOf<VerifyDocument>('verify', '--all');
  expect(every.feeds.map(({ feed, open }) => [feed, open.map(({ command }) => command)])).toEqual([
    ['10/factories', []],
    ['8453/user-operations', []],
    ['8453/factories', [null]],
  ]);
  expect(every.repair).toBeNull();
  expect(await database.query('select from explorer.factories where chain_id = 8453')).toHaveLength(
    30,
  );

  await write({ 10: factories, 8453: factories });
  expect((await run('sync')).code).toBe(0);
  const second = await documentOf<StatusDocument>('status');
  expect(second.feeds.map(({ feed, state }) => [feed, state])).toEqual([
    ['10/factories', 'current'],
    ['8453/factories', 'current'],
  ]);
  expect(second.at_rest).toEqual(['8453/user-operations']);
});

test('a start logs the feeds that its file no longer names, and that another file of its name may', async () => {
  const { database, deploy } = await openDeployments();
  const first = await deploy('production', { 10: factories, 8453: factories });
  const other = await deploy('production', { 8453: factories });
  await first.run('sync');
  const start = {
    workerId: randomUUID(),
    kind: 'start',
    deployment: 'production',
    limits: {},
  } as const;
  await openPresence(database.db, start).beat();

  const process = other.start();
  await eventually('it to work', async () => process.output.includes('"start.ready"'));
  process.kill('SIGTERM');
  await process.exit;

  const retired = process.output.split('\n').find((line) => line.includes('"config.retired"'));
  expect(JSON.parse(retired ?? '{}')).toMatchObject({
    level: 'warn',
    detail: '10/factories',
    workers: 1,
    msg: expect.stringContaining('; 1 other start of this deployment at work'),
  });
});

test('a command for some feeds takes none of the others away from its deployment', async () => {
  const { database, deploy } = await openDeployments();
  const { run } = await deploy('production', { 10: factories, 8453: factories });
  await run('sync');
  await run('sync', '--chain', '10');
  await run('backfill', '--chain', '10', '--operation', 'factories');

  const wanted = await database.query('select feed, wanted_by from etl.lanes order by feed');
  expect(wanted).toEqual([
    { feed: '10/factories', wanted_by: ['production'] },
    { feed: '8453/factories', wanted_by: ['production'] },
  ]);
});

test('a sync of one chain says nothing of the others, although the same is wrong with them', async () => {
  const { deploy } = await openDeployments();
  const { run } = await deploy('production', { 10: both, 8453: both });
  const all = await run('sync');
  expect(all.stdout).toContain('10/user-operations, 8453/user-operations: No new items');

  const { stdout } = await run('sync', '--chain', '10');

  expect(stdout).toContain('10/user-operations: No new items');
  expect(stdout).not.toContain('8453');
});
