import { expect, test } from 'vitest';
import { pagesAfter, timeAt } from './program.ts';
import { flags, world } from './target-scene.ts';

test('without a file a command reads down to its --since, and nothing below is reported as missing', async () => {
  const { run, expectDone } = await world();

  const lists = flags('user-operations', 'optimism-batches', 'factories');
  expect(await run('sync', ...lists, '--since', timeAt(0.6))).toMatchObject({ code: 0 });

  await expectDone(3, ...lists);
});

test('an earlier --since costs the pages between and at most two more, and all costs the remainder', async () => {
  const { run, open } = await world();
  const list = flags('user-operations');
  await run('sync', ...list, '--since', timeAt(0.7));

  const { requests } = await run('backfill', ...list, '--since', timeAt(0.3));
  const between = pagesAfter(0.3) - pagesAfter(0.7);
  expect(requests).toBeGreaterThanOrEqual(Math.floor(between));
  expect(requests).toBeLessThanOrEqual(Math.ceil(between) + 2);
  expect(await open()).toEqual([]);

  const all = await run('backfill', ...list, '--since', 'all');
  expect(all.requests).toBeGreaterThanOrEqual(pagesAfter(0) - pagesAfter(0.3) - 1);
  expect(await open()).toEqual([]);
});
