import { expect, onTestFinished, test } from 'vitest';
import { advance } from '../../../src/sync/advance.ts';
import { freshDatabase, untilLocked } from '../../harness/database.ts';
import { simulated } from '../../harness/explorer.ts';
import { beginRun, openContender, pageBudget } from '../../harness/runner.ts';
import { plainChain } from '../../harness/sync.ts';
import { openRun } from '../../harness/runs.ts';

const chain = { ...plainChain, userOperations: 200 };
const lane = { chain_id: chain.id, operation: 'user-operations', lane: 'backfill' } as const;

test('a run that is superseded while a worker looks for its next walk has not failed, nor has its feed', async () => {
  const simulator = await simulated({ seed: 1, chains: [chain] });
  const database = await freshDatabase();
  const run = { url: simulator.url, chains: [chain], operations: ['user-operations'] };
  const engine = await openContender(database, run);
  const other = await openContender(database, run);
  const { signal } = new AbortController();
  await beginRun(engine, lane, {});
  // A walk that has begun: superseding abandons it.
  expect(await advance(lane, pageBudget(1), engine, signal)).toEqual({ is: 'more' });
  const gate = await database.pool.connect();
  onTestFinished(() => gate.release(true));
  await gate.query('begin; select from etl.feeds for no key update');
  // Both wait for the feed: who supersedes comes first.
  const superseding = openRun(other.db, lane, { max_pages: 2 });
  await untilLocked(database.pool);
  const slice = advance(lane, pageBudget(100), engine, signal);
  await untilLocked(database.pool, 2);

  await gate.query('rollback');

  await superseding;
  expect(await slice).toEqual({ is: 'more' });
  expect(await database.query('select state, reason from etl.runs order by id')).toEqual([
    { state: 'superseded', reason: null },
    { state: 'open', reason: null },
  ]);
  expect(await database.query('select failure, reason from etl.feeds')).toEqual([
    { failure: null, reason: null },
  ]);
});
