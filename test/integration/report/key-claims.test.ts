import { expect, test } from 'vitest';
import type { StatusDocument } from '../../../src/status/schema.ts';
import { openScene } from '../sync/refused-scene.ts';

const outOfCredits = { status: 402, body: { error: 'Out of credits' } };

/** Two lists that were read, and whose key is out of credits since. */
async function spentKey() {
  const scene = await openScene();
  await scene.run('sync');
  Object.assign(scene, { when: () => true, fault: outOfCredits });
  expect((await scene.run('sync')).code).toBe(1);
  return { ...scene, status: () => scene.documentOf<StatusDocument>('status') };
}

test('a key that is out of credits has none left, whatever an earlier answer reported', async () => {
  const { status, query } = await spentKey();
  await query('update etl.budget set credits_remaining = 5000');
  const { credits } = await status();
  expect(credits).toMatchObject({ left: 0, keys: [{ left: 0 }] });
  expect(credits.forecast.kind).not.toBe('enough');
});

test('a key was out of credits, once its wait is over and nothing has tried since', async () => {
  const { status, query } = await spentKey();
  const sentence = async () => (await status()).overall.sentence;
  expect(await sentence()).toMatch(/^The key is out of credits until /u);
  await query(`update etl.budget set paused_until = now() - interval '1 hour'`);
  expect(await sentence()).toBe('The key was out of credits when it was last used.');
});
