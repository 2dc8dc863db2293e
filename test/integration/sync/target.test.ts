import { expect, test } from 'vitest';
import { timeAt } from './program.ts';
import { flags, world } from './target-scene.ts';

test('without a file a command reads down to its --since, and nothing below is reported as missing', async () => {
  const { run, expectDone } = await world();

  const lists = flags('user-operations', 'optimism-batches', 'factories');
  expect(await run('sync', ...lists, '--since', timeAt(0.6))).toMatchObject({ code: 0 });

  await expectDone(3, ...lists);
});
