import { expect, test } from 'vitest';
import type { PlanDocument } from '../../../src/status/plan.ts';
import { parseMoment } from '../../../src/time.ts';
import { blockAt, blocks, pagesAfter, pageSize, timeAt, withinADay } from './program.ts';
import { world } from './target-scene.ts';

/** Requests that an end at `since` costs: two pages that are older, the second one twice. */
const beyondSince = 3;

const flags = (...lists: readonly string[]) => [
  '--chain',
  '10',
  ...lists.flatMap((list) => ['--operation', list]),
];

test('without a file a command reads down to its --since, and nothing below is reported as missing', async () => {
  const { run, expectDone } = await world();

  const lists = flags('user-operations', 'optimism-batches', 'factories');
  expect(await run('sync', ...lists, '--since', timeAt(0.6))).toMatchObject({ code: 0 });

  await expectDone(3, ...lists);
});

test('with a file the bounds of a command are its own: what else the file wants is open', async () => {
  const { run, look, query } = await world({ 'user-operations': {} });

  const first = await run('sync', '--since', timeAt(0.6));
  expect(first.code).toBe(0);
  expect(first.requests).toBeLessThanOrEqual(Math.ceil(pagesAfter(0.6)) + beyondSince + 1);

  expect(await look()).toMatchObject({ open: [{ kind: 'gap' }] });
  expect(await query('select target from etl.feeds')).toEqual([{ target: null }]);
  expect((await run('sync')).requests).toBeGreaterThanOrEqual(
    Math.floor(pagesAfter(0) - pagesAfter(0.6)),
  );
  expect((await look()).open).toEqual([]);
});

test('a file that names a list ends the bounds of the commands before it', async () => {
  const first = await world();
  const { run, open, query } = first;
  await run('sync', ...flags('user-operations'), '--since', timeAt(0.6));
  expect(await open()).toEqual([]);

  const named = await world({ 'user-operations': {} }, first);
  const [planned] = (await named.documentOf<PlanDocument>('plan')).feeds;
  expect(planned?.target).toMatchObject({ since: null, named_by: null });
  await named.run('sync', '--max-pages', '1');

  expect(await query('select target from etl.feeds')).toEqual([{ target: null }]);
  expect(await named.open()).toMatchObject([{ kind: 'gap' }]);
  // A command without the file changes nothing of it.
  await run('sync', ...flags('user-operations'), '--since', timeAt(0.9));
  expect(await query('select target from etl.feeds')).toEqual([{ target: null }]);
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
  expect(walked.pages).toBeLessThanOrEqual(Math.ceil(pagesAfter(0.6)) + beyondSince);
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
