import { expect, inject, test } from 'vitest';
import type { PlanDocument } from '../../../src/status/plan.ts';
import type { StatusDocument } from '../../../src/status/schema.ts';
import { inLong } from '../../harness/long-cases.ts';
import { pagesAfter, timeAt } from './program.ts';
import { beyondSince, flags, world } from './target-scene.ts';

test.runIf(inject('isLong'))(
  'with a file the bounds of a command are its own: what else the file wants is open',
  async () => {
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
  },
);

test.runIf(inject('isLong'))(
  'a file that names a list ends the bounds of the commands before it',
  async () => {
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
  },
);

test.each<readonly [string, readonly object[]]>([
  ['sync', [{ lane: 'live' }]],
  ...inLong<[string, object[]]>(['backfill', []]),
])('%s can read history before the configured since', async (command, others) => {
  const { run, query, open } = await world({ 'user-operations': { since: timeAt(0.7) } });
  await run('sync');

  const { requests } = await run(command, '--since', timeAt(0.3));

  expect(requests).toBeGreaterThanOrEqual(Math.floor(pagesAfter(0.3) - pagesAfter(0.7)));
  expect(await query(`select lane from etl.runs where lane = 'live'`)).toEqual(others);
  // The target is still that of the file.
  expect(await open()).toEqual([]);
  expect((await run('sync')).requests).toBeLessThanOrEqual(2);
});

test.each(['named', ...inLong('names')])(
  'without a file, the bounds of the file that %s a list are its target',
  async (when) => {
    const { run, documentOf, open, ...bare } = await world();
    const lists = {
      'user-operations': { since: timeAt(0.7) },
      'optimism-batch-blocks': { from_batch: 4 },
    };
    const file = await world(lists, bare);
    await file.run('sync');
    if (when === 'named') await (await world({ factories: {} }, bare)).run('sync');
    const chosen = flags('user-operations', 'optimism-batch-blocks');

    const { feeds } = await documentOf<PlanDocument>('plan', ...chosen);
    expect(feeds.map(({ target, history }) => [target, history.requests.most])).toEqual([
      [{ since: timeAt(0.7), from_batch: null, to_batch: null, named_by: 'file' }, 0],
      [{ since: null, from_batch: 4, to_batch: null, named_by: 'file' }, 0],
    ]);
    expect((await run('sync', ...chosen)).requests).toBeLessThanOrEqual(6);
    expect(await open()).toEqual([]);
    const status = await documentOf<StatusDocument>('status', '--all');
    const known = status.feeds.filter(({ operation }) => operation in lists);
    expect(known.map(({ left }) => left.requests.most)).toEqual([0, 0]);
  },
);

test.each(['repair', ...inLong('sync', 'backfill')])(
  '%s without the file reads no further back than the file wants',
  async (command) => {
    const { run, query, ...bare } = await world();
    const named = await world({ 'user-operations': { since: timeAt(0.7) } }, { ...bare });
    await named.run('sync');
    if (command === 'repair') {
      await query(`
        update etl.walks
        set verified = verified - int8multirange(int8range((bottom + top) / 2, (bottom + top) / 2 + 3))
        where top is not null`);
    }

    const { requests } = await run(command, ...flags('user-operations'));

    expect(requests).toBeLessThanOrEqual(4);
    expect(await named.open()).toEqual([]);
  },
);
