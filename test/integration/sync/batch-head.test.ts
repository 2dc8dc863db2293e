import type { SQL } from 'drizzle-orm';
import { PgDialect } from 'drizzle-orm/pg-core';
import { expect, test } from 'vitest';
import { transact } from '../../../src/db/transaction.ts';
import { kindOf } from '../../../src/lists/index.ts';
import { currentRun } from '../../../src/sync/runs.ts';
import { batchWorld, fullBatch, startMs, times } from '../../harness/batch-world.ts';
import { blockItem, range } from '../../harness/kept.ts';
import { openRun } from '../../harness/runs.ts';

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

test('the newest of many batches to read again is found without judging the others', async () => {
  const { poll, runner, lanes, database } = await batchWorld(1);
  await poll(0);
  await database.query(
    `insert into explorer.read_batches (chain_id, batch_number, state, blocks_count, walked_at, page_id)
     select 10, number, case number when 1997 then 'settled' else 'open' end, 1, now(), 1
     from generate_series(2, 2000) as number`,
  );
  await database.query(`select etl.recount_batches('%')`);
  await database.query('update etl.feeds set latest_batch = 2000');
  await database.query('analyze');
  const target = lanes.find(({ lane }) => lane.lane === 'backfill');
  if (target === undefined) throw new Error('no backfill lane');
  await openRun(runner.db, target.lane, { ...target.scope, at_once: true });
  const run = await currentRun(runner.db, target.lane);
  if (run === null) throw new Error('no run');

  const plans: string[] = [];
  const planned = await transact(runner.db, (tx) => {
    const explained = new Proxy(tx, {
      get(own, name: keyof typeof tx) {
        if (name !== 'execute') return own[name];
        return async (statement: SQL) => {
          const { sql, params } = new PgDialect().sqlToQuery(statement);
          if (sql.includes('from etl.batch_standing')) {
            const plan = await database.query(`explain ${sql}`, params);
            plans.push(JSON.stringify(plan));
          }
          return own.execute(statement);
        };
      },
    });
    return kindOf(run.operation).nextWalk(explained, run, new Date(startMs));
  });

  expect(planned).toMatchObject({ scope: { batch: 1997 } });
  expect(plans).toEqual([expect.not.stringContaining('Sort')]);
});

test('a walk down to the known blocks of a batch reads on if the known one has another hash', async () => {
  const { list, poll, database } = await batchWorld(4);
  await poll(0);
  const replaced = fullBatch(4).map((block, at) => ({
    ...block,
    edition: 1,
    parentEdition: at === 0 ? 0 : 1,
  }));
  list.batches.set(4, replaced);

  await poll(10);

  const stored = await database.query(
    'select hash from explorer.blocks where optimism_batch_number = 4 order by height',
  );
  expect(stored).toEqual(replaced.map((block) => ({ hash: blockItem(block)['hash'] })));
});
