import { expect, test } from 'vitest';
import { batchWorld, fullBatch, startMs, times } from '../../harness/batch-world.ts';
import { range } from '../../harness/kept.ts';

test('where many batches wait, a poll reads the lowest three again, and no empty number above them', async () => {
  const { list, poll, runner, lanes, states } = await batchWorld(5);
  await poll(0);
  for (const number of [6, 7, 8, 10]) {
    const pending = fullBatch(number).map((block) => ({ ...block, isPending: true }));
    list.batches.set(number, pending);
  }
  for (const minute of [10, 20, 30]) await poll(minute);
  expect(await states()).toMatchObject({ 5: 'settled', 8: 'open', 9: 'empty', 10: 'open' });

  const deep = lanes.map((lane) => ({ ...lane, scope: { ...lane.scope, reread: 8 } }));
  const live = deep.filter(({ lane }) => lane.lane === 'live');
  expect(await runner.run(live, new Date(startMs + 3_600_000), 'schedule')).toEqual(['finished']);

  const requested = list.takeRequests().flatMap(({ batch }) => batch ?? []);
  expect(range(1, 10).filter((number) => times(requested, number) > 0)).toEqual([6, 7, 8]);
});
