import { expect, test } from 'vitest';
import { call } from '../../harness/process.ts';
import { acceptKey } from '../../../src/sync/failures.ts';
import { openProgram } from './program.ts';
import { chain, expectEndedByPage, lists, openScene } from './refused-scene.ts';

test('one page ends the fact of a refused key for all feeds of the key', async () => {
  await expectEndedByPage({ status: 401, body: { error: 'Unauthorized' } });
});

test('a page of a feed that did not fail has the log say that the key of another one works again', async () => {
  const { run, query, env, cwd } = await openScene();
  await run('sync', '--max-pages', '1');
  await query(`
    update etl.feeds set failure = 'unauthorized', reason = 'HTTP 401'
    where operation = 'user-operations'`);

  const command = ['sync', '--operation', 'factories', '--log-format', 'json'];
  const { stderr } = await call(command, { env, ...(cwd !== undefined && { cwd }) });

  const accepted = stderr.split('\n').filter((line) => line.includes('"key.accepted"'));
  expect(accepted).toEqual([expect.stringContaining('"was":"unauthorized"')]);
});

test('a page of a slice that began before a refusal does not end what is stored of it', async () => {
  const { run, query, db } = await openScene();
  await run('sync', '--max-pages', '1');
  await query(`
    update etl.feeds set failure = 'out-of-credits', reason = 'HTTP 402', updated_at = now()
    where operation = 'user-operations'`);
  expect(await acceptKey(db, [chain.id], '2020-01-01')).toBeNull();
  expect(await acceptKey(db, [chain.id], 'infinity')).toMatchObject({ was: 'out-of-credits' });
});

test('an explorer that failed a sync is unreachable until the next one is answered', async () => {
  const scene = await openScene();
  await scene.run('sync');
  scene.when = () => true;
  scene.fault = { status: 503, body: { message: 'no upstream' } };
  expect((await scene.run('sync')).code).toBe(1);
  const [reason, ...others] = await scene.reasons();
  expect(reason).toMatchObject({
    code: 'explorer-unreachable',
    feeds: ['10/user-operations', '10/factories'],
    sentence: expect.stringMatching(
      /^No answer from 127\.0\.0\.1:\d+ since \d\d:\d\d UTC: HTTP 503, no upstream; no worker tries again\.$/u,
    ),
  });
  expect(others.filter(({ severity }) => severity !== 'info')).toEqual([]);
  scene.fault = null;
  expect((await scene.run('sync')).code).toBe(0);
  expect((await scene.reasons()).map(({ code }) => code)).not.toContain('explorer-unreachable');
  expect(await scene.query('select from etl.hosts')).toEqual([]);
});

test('our own limit is named with its file', async () => {
  const { run, cwd, query } = await openProgram({
    chains: [chain],
    operations: lists,
    explorer: { daily_credits: 40 },
  });
  expect((await run('sync')).code).toBe(1);
  const text = (await run('status')).stdout.replaceAll(/\s+/gu, '');
  expect(text).toContain(`daily_creditsin${cwd}/explorer-etl.yaml`.replaceAll(/\s+/gu, ''));
  expect(await query('select failure from etl.feeds')).toContainEqual({
    failure: 'daily-limit',
  });
});
