import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import type { StatusDocument } from '../../../src/status/schema.ts';
import { openPresence } from '../../../src/sync/workers.ts';
import { hangMs } from '../../harness/process.ts';
import { listed, openDeployments } from './scene.ts';

const factories = listed(['factories']);

test('settings that differ from those of a deployment at work are refused by name, and --take-over moves the feed', async () => {
  const { database, deploy } = await openDeployments();
  const first = await deploy('first', { 10: factories });
  const second = await deploy('second', {
    10: listed(['factories'], { freshness: '1h', timezone: 'Europe/Berlin' }),
  });
  await first.run('sync');
  const workerId = randomUUID();
  const start = { workerId, kind: 'start', deployment: 'first', limits: {} } as const;
  await openPresence(database.db, start).beat();
  const settings = () =>
    database.query(
      `select settings ->> 'timezone' as zone, wanted_by from etl.feeds join etl.lanes using (feed)`,
    );

  const refused = await second.run('sync');
  expect(refused).toMatchObject({
    code: 2,
    stderr:
      'explorer-etl: 10/factories is wanted by first with other settings; this file has timezone Europe/Berlin instead of UTC, freshness 1h instead of unset. A start of that deployment is at work: use its settings, remove the feed from one of the files, or move it here with --take-over of start or sync.\n',
  });
  expect(await settings()).toEqual([{ zone: 'UTC', wanted_by: ['first'] }]);
  expect(await second.run('check', '--no-requests')).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(/FAIL {2}database: 10\/factories is wanted by first/u),
  });

  const forgets = await first.run('feeds', 'forget', '--chain', '10');
  expect(forgets.stderr).toContain('10/factories is wanted by first, which is at work');

  expect((await second.run('sync', '--take-over')).code).toBe(0);
  expect(await settings()).toEqual([{ zone: 'Europe/Berlin', wanted_by: ['second'] }]);
});

test('a deployment that is not at work refuses nothing, and the feed is wanted by both', async () => {
  const { database, deploy } = await openDeployments();
  const first = await deploy('first', { 10: factories });
  const second = await deploy('second', { 10: listed(['factories'], { freshness: '1h' }) });
  await first.run('sync');

  expect((await second.run('sync')).code).toBe(0);

  expect(await database.query('select wanted_by from etl.lanes')).toEqual([
    { wanted_by: ['first', 'second'] },
  ]);
  const child = first.start();
  const line = '10/factories: freshness unset instead of 1h';
  await expect.poll(() => child.output, { timeout: hangMs }).toContain(line);
  child.kill('SIGTERM');
  await child.ended();
  expect((await second.documentOf<StatusDocument>('status')).deployments).toEqual([
    { name: 'first', feeds: 1, workers: 0 },
    { name: 'second', feeds: 1, workers: 0 },
  ]);

  expect(await second.run('feeds', 'forget', '--deployment', 'first')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('its 1 feed no more. Nothing was done: add --yes.'),
  });
  const command = {
    workerId: randomUUID(),
    kind: 'once',
    deployment: 'first',
    limits: {},
  } as const;
  const presence = openPresence(database.db, command);
  await presence.beat();
  expect(await second.run('feeds', 'forget', '--deployment', 'first', '--yes')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('it is at work: stop its start or command first.'),
  });
  await presence.close();
  expect((await second.run('feeds', 'forget', '--deployment', 'first', '--yes')).code).toBe(0);
  expect(await database.query('select wanted_by from etl.lanes')).toEqual([
    { wanted_by: ['second'] },
  ]);
  expect((await second.run('feeds', 'forget', '--deployment', 'first', '--yes')).code).toBe(2);
});
