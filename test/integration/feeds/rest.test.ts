import { expect, onTestFinished, test } from 'vitest';
import { advance } from '../../../src/sync/advance.ts';
import { simulated } from '../../harness/explorer.ts';
import { freshDatabase, untilLocked } from '../../harness/database.ts';
import { beginRun, openContender, pageBudget } from '../../harness/runner.ts';
import { plainChain } from '../../harness/sync.ts';

const chain = { ...plainChain, userOperations: 20 };

test('a feed whose two lanes end at the same moment becomes idle', async () => {
  const simulator = await simulated({ seed: 1, chains: [chain] });
  const database = await freshDatabase();
  const engine = await openContender(database, {
    url: simulator.url,
    chains: [chain],
    operations: ['user-operations'],
  });
  const lanes = (['live', 'backfill'] as const).map((lane) => ({
    chain_id: chain.id,
    operation: 'user-operations' as const,
    lane,
  }));
  for (const lane of lanes) await beginRun(engine, lane, {});
  const gate = await database.pool.connect();
  onTestFinished(() => gate.release(true));
  // Both runs are to end while neither has ended.
  await gate.query(`
    select pg_advisory_lock(1);
    create function public.wait_for_gate() returns trigger language plpgsql as $$ begin
      perform pg_advisory_xact_lock_shared(1);
      return new;
    end $$;
    create trigger gate before update of state on etl.runs
    for each row when (new.state = 'finished') execute function public.wait_for_gate();
  `);
  const { signal } = new AbortController();
  const ends = lanes.map((lane) => advance(lane, pageBudget(1000), engine, signal));
  await untilLocked(database.pool, 2);

  await gate.query('select pg_advisory_unlock(1)');

  expect((await Promise.all(ends)).map(({ is }) => is)).toEqual(['closed', 'closed']);
  expect(await database.query('select reason from etl.feeds')).toEqual([{ reason: null }]);
});
