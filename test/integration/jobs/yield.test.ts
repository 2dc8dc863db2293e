import { expect, test } from 'vitest';
import type { FeedLane } from '../../../src/lists/feed.ts';
import { registerFeeds } from '../../../src/sync/feeds.ts';
import { serve } from '../../../src/sync/serve.ts';
import { freshDatabase } from '../../harness/database.ts';
import { keepLists } from '../../harness/kept.ts';
import { beginRun, openContender } from '../../harness/runner.ts';
import { plainChain } from '../../harness/sync.ts';

const lane: FeedLane = { chain_id: 10, operation: 'user-operations', lane: 'backfill' };

test('a worker that starts does not replace a run that a person began with other bounds', async () => {
  const list = await keepLists({ operations: [{ block: 1, id: 1 }] });
  const database = await freshDatabase();
  const engine = await openContender(database, {
    url: list.url,
    chains: [plainChain],
    operations: ['user-operations'],
  });
  await registerFeeds(engine.db, [{ ...lane, chain_name: 'optimism', settings: {} }], 'file', {
    origin: 'http://127.0.0.1',
    isSameData: false,
  });
  await beginRun(engine, lane, { max_pages: 1 });

  const schedule = { lane, cron: '0 0 1 1 *', timezone: 'UTC', scope: {} };
  await serve([schedule], engine, AbortSignal.abort());

  const rows = await database.query('select scope, state from etl.runs order by id');
  expect(rows).not.toContainEqual({ scope: { max_pages: 1 }, state: 'superseded' });
});
