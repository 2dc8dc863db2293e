import { expect, test } from 'vitest';
import type { z } from 'zod';
import type { feedsListDocument } from '../../../src/cli/feeds.ts';
import type { SyncDocument } from '../../../src/cli/sync.ts';
import type { StatusDocument } from '../../../src/status/schema.ts';
import { eventually } from '../../harness/process.ts';
import { yearly } from '../../harness/world.ts';
import { chains, listed, openDeployments } from './scene.ts';

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
