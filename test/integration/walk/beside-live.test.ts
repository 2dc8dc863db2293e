import { expect, test } from 'vitest';
import type { FeedLane } from '../../../src/lists/feed.ts';
import { takeWalk } from '../../../src/sync/runs.ts';
import { oneEach } from '../../harness/kept.ts';
import { beginRun, openContender } from '../../harness/runner.ts';
import { followCopied, plainChain } from '../../harness/sync.ts';

const lane: FeedLane = { chain_id: 10, operation: 'user-operations', lane: 'backfill' };

test('a backfill that finds no gap waits for the end of the poll beside it, and not for a lost one', async () => {
  const { list, database, query } = await followCopied({ operations: oneEach(1, 20) });
  const engine = await openContender(database, {
    url: list.url,
    chains: [plainChain],
    operations: ['user-operations'],
  });
  const run = await beginRun(engine, lane, {});
  const { db, origin } = engine;
  const find = () => takeWalk(db, run, { held: [], at: engine.clock(), origin });
  const taken = (ago: string) =>
    query(
      `update etl.lanes set taken_at = clock_timestamp() - interval '${ago}' where lane = 'live'`,
    );
  expect(await find()).toBeNull();

  await taken('1 second');
  expect(await find()).toBe('wait');

  await taken('2 minutes');
  expect(await find()).toBeNull();
});
