import { expect, test } from 'vitest';
import { parseMoment } from '../../../src/time.ts';
import { blockAt, blocks, pagesAfter, pageSize, timeAt, withinADay } from './program.ts';
import { beyondSince, flags, world } from './target-scene.ts';

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

test('without a file a command that is stopped midway leaves its target to the next one', async () => {
  const { run, interrupted, look, open, query } = await world();
  const list = flags('user-operations');

  expect((await interrupted(3, 'sync', ...list, '--since', timeAt(0.6))).code).toBe(130);
  const { left, ...stopped } = await look(...list);
  expect(left[0]).toBeLessThanOrEqual(Math.ceil(pagesAfter(0.6)));
  expect(stopped.open).not.toEqual([]);

  expect((await run('sync', ...list)).code).toBe(0);
  expect(await open()).toEqual([]);
  const [walked] = await query('select sum(pages)::int as pages from etl.walks');
  expect(walked.pages).toBeLessThanOrEqual(Math.ceil(pagesAfter(0.6)) + beyondSince + 1);
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
      const { run, query } = await world();
      const args = [
        command,
        ...flags('user-operations'),
        '--since',
        '7d',
        ...(command === 'sync' ? ['--max-pages', '1'] : []),
      ];
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
