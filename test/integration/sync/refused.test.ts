import { expect, test } from 'vitest';
import { expectAlone, expectUnsupported, html, openScene } from './refused-scene.ts';

// More answers of each kind are in `refused.long.test.ts`.

test('a list that was never served is unsupported, with the words of the service, after a 400', async () => {
  const fault = { status: 400, body: { message: 'Bad request' } };
  await expectUnsupported(fault, /Bad request/u);
});

test('where nothing was ever served, sync fails and names the address', async () => {
  const scene = await openScene();
  scene.when = () => true;
  scene.fault = { status: 404, body: { message: 'no route' } };
  const { code, stdout } = await scene.run('sync');
  const text = stdout.replaceAll(/\s+/gu, ' ');
  expect(code).toBe(1);
  expect(text).toMatch(/: HTTP 404, no route; base_url is http:\/\/127\.0\.0\.1:\d+\. /u);
  expect(text).toContain('Check the path of base_url (or EXPLORER_BASE_URL) and the chain');
  expect(await scene.reasons()).toContainEqual(
    expect.objectContaining({ code: 'unsupported', severity: 'action' }),
  );
});

test('a refused cursor ends its walk only, and the next sync completes the list', async () => {
  const scene = await openScene();
  scene.when = ({ operation, url }) =>
    operation === 'user-operations' && url.searchParams.has('page_token');
  scene.fault = { status: 400, body: { message: 'Bad request' } };
  await scene.run('sync');
  expect(
    await scene.query('select state, failure from etl.walks where failure is not null'),
  ).toEqual(expect.arrayContaining([{ state: 'abandoned', failure: 'cursor-refused' }]));
  scene.fault = null;
  expect((await scene.run('sync')).code).toBe(0);
  expect(await scene.query('select count(*)::int from explorer.user_operations')).toEqual([
    { count: 120 },
  ]);
});

test('a list is refused alone, and the other is downloaded: a firewall answers 403 in HTML', async () => {
  const fault = { status: 403, body: html('Attention Required! | Cloudflare') };
  const reason = /in front of the explorer.*Attention Required! \| Cloudflare/u;
  await expectAlone(fault, 'intercepted', reason);
});
