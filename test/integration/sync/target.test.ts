import { expect, test } from 'vitest';
import { parseMoment } from '../../../src/time.ts';
import { blockAt, blocks, pagesAfter, pageSize, timeAt, withinADay } from './program.ts';
import { world } from './target-scene.ts';

test('a command reads down to its --since, and nothing below is reported as missing', async () => {
  const { run, expectDone } = await world({
    'user-operations': {},
    'optimism-batches': {},
    factories: {},
  });

  expect(await run('sync', '--since', timeAt(0.6))).toMatchObject({ code: 0 });

  await expectDone(3);
});

test('an earlier --since costs the pages between and at most two more, and all costs the remainder', async () => {
  const { run, open } = await world({ 'user-operations': { parallel: 1 } });
  await run('sync', '--since', timeAt(0.7));

  const { requests } = await run('backfill', '--since', timeAt(0.3));
  const between = pagesAfter(0.3) - pagesAfter(0.7);
  expect(requests).toBeGreaterThanOrEqual(Math.floor(between));
  expect(requests).toBeLessThanOrEqual(Math.ceil(between) + 2);
  expect(await open()).toEqual([]);

  const all = await run('backfill', '--since', 'all');
  expect(all.requests).toBeGreaterThanOrEqual(pagesAfter(0) - pagesAfter(0.3) - 1);
  expect(await open()).toEqual([]);
});

test('a command can read history before the configured since, without a live run', async () => {
  const { run, query } = await world({ 'user-operations': { since: timeAt(0.7) } });
  await run('sync');

  const { requests } = await run('backfill', '--since', timeAt(0.3));

  expect(requests).toBeGreaterThanOrEqual(Math.floor(pagesAfter(0.3) - pagesAfter(0.7)));
  expect(await query(`select from etl.runs where lane = 'live'`)).toEqual([]);
});

test('covered history is read again only with --again', async () => {
  const { run, query } = await world({ 'user-operations': {} });
  await run('sync');

  expect(await run('backfill')).toMatchObject({ code: 0, requests: 0 });

  expect((await run('backfill', '--again')).code).toBe(0);
  const runs = await query('select scope from etl.runs order by id desc limit 1');
  expect(runs).toMatchObject([{ scope: { again: true } }]);
});

test('a range of blocks is read alone, for its own pages, one at the head and one at each end', async () => {
  const { run, query } = await world({ 'user-operations': { parallel: 1 } });
  const [from, to] = [blockAt(0.4), blockAt(0.5)];
  const range = ['--from-block', String(from), '--to-block', String(to)];
  const items = blocks.filter((block) => block >= from && block <= to).length;

  const { code, requests } = await run('backfill', ...range);

  expect(code).toBe(0);
  expect(requests).toBeLessThanOrEqual(Math.ceil(items / pageSize) + 1 + 2);
  const covered = await query(
    `select from explorer.coverage where from_block <= ${from} and to_block >= ${to}`,
  );
  expect(covered).toHaveLength(1);
  expect(await run('backfill', ...range)).toMatchObject({ code: 0, requests: 0 });
});

test.each(['6'])('batches 3 to %s, which a command named, become the target', async (to) => {
  const { run, open } = await world({ 'optimism-batch-blocks': {} });
  await run('sync', '--from-batch', '3', '--to-batch', to);

  expect((await run('sync')).requests).toBeLessThanOrEqual(2);

  expect(await open()).toEqual([]);
});

test('a command that is stopped midway leaves its target to the next one', async () => {
  const { run, interrupted, look, open, query } = await world({
    'user-operations': { parallel: 1 },
  });

  expect((await interrupted(3, 'sync', '--since', timeAt(0.6))).code).toBe(130);
  const { left, ...stopped } = await look();
  expect(left[0]).toBeLessThanOrEqual(Math.ceil(pagesAfter(0.6)));
  expect(stopped.open).not.toEqual([]);

  expect((await run('sync')).code).toBe(0);
  expect(await open()).toEqual([]);
  const [walked] = await query('select sum(pages)::int as pages from etl.walks');
  expect(walked.pages).toBeLessThanOrEqual(Math.ceil(pagesAfter(0.6)) + 2);
});

test('the target of the file replaces that of a command', async () => {
  const { run, open, query } = await world({ 'user-operations': { since: timeAt(0.5) } });
  await run('sync', '--since', timeAt(0.8));

  expect(await open()).toMatchObject([{ kind: 'gap' }]);

  await run('sync');
  expect(await open()).toEqual([]);
  expect(await query('select target from etl.feeds')).toEqual([{ target: null }]);
});

test.each(['sync'])(
  '%s --since 7d reads back to the day a week ago, and the same command resumes it',
  (command) =>
    withinADay(async () => {
      const { run, query } = await world({ 'user-operations': {} });
      const args = [command, '--since', '7d', ...(command === 'sync' ? ['--max-pages', '1'] : [])];
      const runs = () =>
        query(`
          select id, scope ->> 'since' as since, target ->> 'since' as target
          from etl.runs join etl.feeds using (feed) where lane = 'backfill' order by id`);

      expect((await run(...args)).code).toBe(0);
      const first = await runs();
      await query(`update etl.runs set state = 'interrupted' where lane = 'backfill'`);
      expect((await run(...args)).code).toBe(0);

      const since = parseMoment('7d', new Date());
      expect(first).toMatchObject([{ since, target: since }]);
      expect(await runs()).toEqual(first);
    }),
);
