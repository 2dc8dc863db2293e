import { expect, test } from 'vitest';
import { pagesAfter, timeAt } from './program.ts';
import { flags, world } from './target-scene.ts';

/** Batches have 60 blocks on average, 90 at most. */
const pagesOfBatch = 2;

test('a lower --from-batch costs the batches below, and those at the ends of the known range', async () => {
  const { run, query } = await world({ 'optimism-batch-blocks': { from_batch: 9, to_batch: 12 } });
  await run('sync');

  const { code, requests } = await run('backfill', '--from-batch', '5');

  expect(code).toBe(0);
  const [read] = await query(`
    select sum(pages)::int as pages, count(distinct batch)::int as batches
    from etl.walks where batch < 9`);
  expect(read.batches).toBe(4);
  // Nothing above verifies the newest, and the lowest waits for the one that is read now.
  expect(requests).toBeLessThanOrEqual(read.pages + 1 + pagesOfBatch);
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

test('covered history is read again only with --again', async () => {
  const { run, query } = await world({ 'user-operations': {} });
  await run('sync');

  expect(await run('backfill')).toMatchObject({ code: 0, requests: 0 });

  expect((await run('backfill', '--again')).code).toBe(0);
  const runs = await query('select scope from etl.runs order by id desc limit 1');
  expect(runs).toMatchObject([{ scope: { again: true } }]);
});

test.each(['6'])(
  'without a file batches 3 to %s, which a command named, become the target',
  async (to) => {
    const { run, open } = await world();
    const list = flags('optimism-batch-blocks');
    await run('sync', ...list, '--from-batch', '3', '--to-batch', to);

    expect((await run('sync', ...list)).requests).toBeLessThanOrEqual(2);

    expect(await open()).toEqual([]);
  },
);
