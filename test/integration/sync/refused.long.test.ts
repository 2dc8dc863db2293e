import { expect, test } from 'vitest';
import { testKey } from '../../harness/explorer.ts';
import { openProgram } from './program.ts';
import {
  chain,
  expectAlone,
  expectEndedByPage,
  expectRetried,
  expectUnsupported,
  html,
  lists,
  openScene,
} from './refused-scene.ts';

test('a list that was served is retried after a 404 of an ingress', async () => {
  const fault = { status: 404, body: 'default backend - 404' };
  await expectRetried(fault, /default backend - 404/u);
});

test('a list that was served is retried after a 410', async () => {
  await expectRetried({ status: 410, body: { message: 'Gone for now' } }, /Gone for now/u);
});

test('a list that was never served is unsupported, with the words of the service, after a 404 of an ingress', async () => {
  const fault = { status: 404, body: 'default backend - 404' };
  await expectUnsupported(fault, /default backend - 404/u);
});

test('a list is refused alone, and the other is downloaded: a login page answers 200', async () => {
  const fault = { status: 200, body: html('Sign in') };
  await expectAlone(fault, 'intercepted', /in front of the explorer answers: Sign in/u);
});

test.each([
  ['that the service did not see', { status: 402, body: { error: 'Proceed with API key' } }],
  ['without credits', { status: 402, body: { error: 'Out of credits' } }],
])('one page ends the fact of a key %s for all feeds of the key', async (_what, fault) => {
  await expectEndedByPage(fault);
});

test('a base_url with a wrong path is named by sync, and check says what to look at', async () => {
  const { run, env } = await openScene();
  env.EXPLORER_BASE_URL += '/api/v2';
  const synced = await run('sync');
  expect(synced.code).toBe(1);
  expect(synced.stdout.replaceAll(/\s+/gu, ' ')).toMatch(/base_url is http:\S+\/api\/v2\. /u);
  const checked = await run('check');
  expect(checked.code).toBe(1);
  expect(checked.stdout.replaceAll(/\s+/gu, ' ')).toMatch(
    /not-found \(HTTP 404\): .* check the path of base_url/u,
  );
});

test('a list is refused alone, and the other is downloaded: the service answers 403', async () => {
  const fault = { status: 403, body: { error: 'Forbidden' } };
  await expectAlone(fault, 'forbidden', /HTTP 403, Forbidden/u);
});

test('a new key ends the fact of the old one for all its feeds', async () => {
  const scene = await openScene();
  scene.env.EXPLORER_API_KEY = 'a-wrong-key-0123';
  await scene.run('sync');
  expect((await scene.reasons())[0]?.code).toBe('key-refused');
  scene.env.EXPLORER_API_KEY = testKey;
  await scene.run('sync', '--operation', 'factories');
  expect((await scene.reasons()).map(({ code }) => code)).not.toContain('key-refused');
});

test('syncs against an explorer that is down use up no daily_credits', async () => {
  const down = { chains: [chain], operations: lists, explorer: { daily_credits: 80 } };
  const { run, env, query } = await openProgram(down);
  const up = env.EXPLORER_BASE_URL;
  env.EXPLORER_BASE_URL = 'http://127.0.0.1:1';
  for (let time = 0; time < 2; time += 1) {
    const { stdout } = await run('sync', '--same-data');
    expect(stdout).toContain('0 requests · 0 credits');
    expect(stdout).not.toMatch(/credits of a day|out of credits/u);
  }
  expect(await query('select credits_spent::int, requests::int from etl.budget')).toEqual([
    { credits_spent: 0, requests: 0 },
  ]);
  env.EXPLORER_BASE_URL = up;
  await run('sync', '--operation', 'factories', '--same-data');
  expect(await query('select count(*)::int from explorer.factories')).toEqual([{ count: 20 }]);
});

test('a list that fails in a sync of its own is no outage, and a refused key ends one', async () => {
  const scene = await openScene();
  const outages = () => scene.query('select failure from etl.hosts');
  await scene.run('sync', '--max-pages', '1');
  scene.fault = { status: 503, body: { message: 'no upstream' } };
  expect((await scene.run('sync', '--operation', 'user-operations')).code).toBe(1);
  expect(await outages()).toEqual([]);
  scene.when = () => true;
  await scene.run('sync');
  expect(await outages()).toEqual([{ failure: 'unreachable' }]);
  scene.fault = { status: 401, body: { message: 'invalid key' } };
  await scene.run('sync');
  expect(await outages()).toEqual([]);
});
