import { expect, test } from 'vitest';
import { type Database, transact } from '../../../src/db/transaction.ts';
import type { Why } from '../../../src/failure.ts';
import type { FeedLane } from '../../../src/lists/feed.ts';
import type { RunRow } from '../../../src/lists/tables.ts';
import { beginWork, recover, setFailure } from '../../../src/sync/failures.ts';
import { closeRun, countFailure } from '../../../src/sync/runs.ts';
import { freshDatabase } from '../../harness/database.ts';
import { beginRun, openContender } from '../../harness/runner.ts';
import { smallChain } from '../../harness/sync.ts';

const chain = smallChain({});
const live: FeedLane = { chain_id: chain.id, operation: 'user-operations', lane: 'live' };
const backfill: FeedLane = { ...live, lane: 'backfill' };

const outOfCredits: Why = { failure: 'out-of-credits', reason: 'out-of-credits: …' };

/** A feed whose backfill waits, as it does when the credits for history are used. */
async function openScene() {
  const database = await freshDatabase();
  const engine = await openContender(database, { url: 'http://127.0.0.1:1', chains: [chain] });
  const runs = {
    live: await beginRun(engine, live, {}),
    backfill: await beginRun(engine, backfill, {}),
  };
  await countFailure(engine.db, runs.backfill, false, 'no credits');
  await setFailure(engine.db, backfill, outOfCredits);
  const stored = "select failure, reason from etl.feeds where feed = '10/user-operations'";
  const state = async () => (await database.query(stored))[0];
  return { db: engine.db, runs, state };
}

const recovered = (db: Database, run: RunRow) => transact(db, (tx) => recover(tx, run));

test('a failing feed keeps its state while it is retried', async () => {
  const { db, state } = await openScene();
  expect(await beginWork(db, backfill)).toMatchObject({ is_failing: true });
  expect(await state()).toEqual(outOfCredits);
});

test('a lane that succeeds does not hide the failure of the other', async () => {
  const { db, runs, state } = await openScene();
  expect(await recovered(db, runs.live)).toBeNull();
  expect(await state()).toEqual(outOfCredits);
});

test('the feed recovers when the failing lane succeeds', async () => {
  const { db, runs, state } = await openScene();
  expect(await recovered(db, runs.backfill)).toEqual({
    was: 'out-of-credits',
    reason: outOfCredits.reason,
  });
  expect(await state()).toEqual({ failure: null, reason: null });
});

test('a feed is not running once another worker has ended its run', async () => {
  const { db, runs, state } = await openScene();
  await db.execute('update etl.feeds set failure = null, reason = null');
  await closeRun(db, runs.live, 'finished', null);

  expect(await beginWork(db, live)).toBeNull();

  expect(await state()).toEqual({ failure: null, reason: null });
});
