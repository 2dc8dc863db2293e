import type { SQL } from 'drizzle-orm';
import { PgDialect } from 'drizzle-orm/pg-core';
import { expect, test } from 'vitest';
import { transact } from '../../../src/db/transaction.ts';
import { kindOf } from '../../../src/lists/index.ts';
import { configuredFeeds, configuredLanes, registerFeeds } from '../../../src/sync/feeds.ts';
import { currentRun } from '../../../src/sync/runs.ts';
import { freshDatabase } from '../../harness/database.ts';
import { openRun } from '../../harness/runs.ts';
import { plainChain, settingsFor } from '../../harness/sync.ts';

const url = 'http://localhost';

test('a batch that a repair makes unread while its walk is planned is planned once more', async () => {
  const { query, db } = await freshDatabase();
  const operations = ['optimism-batch-blocks'] as const;
  const { chains } = settingsFor({ url, chains: [plainChain], operations });
  await registerFeeds(db, configuredFeeds(chains), 'file', { origin: url, isSameData: true });
  const target = configuredLanes(chains).find(({ lane }) => lane.lane === 'backfill');
  if (target === undefined) throw new Error('no backfill lane');
  await openRun(db, target.lane, { from_batch: 1, to_batch: 1 });
  const run = await currentRun(db, target.lane);
  if (run === null) throw new Error('no run');
  await query(
    `insert into explorer.read_batches (chain_id, batch_number, state, blocks_count, first_height, last_height, walked_at, page_id)
       values ($1, 1, 'open', 1, 0, 0, now(), 1)`,
    [run.chain_id],
  );
  await query(`select etl.recount_batches('%')`);

  const planned = await transact(db, (tx) => {
    const repaired = new Proxy(tx, {
      get(own, name: keyof typeof tx) {
        if (name !== 'execute') return own[name];
        return async (statement: SQL) => {
          if (new PgDialect().sqlToQuery(statement).sql.includes('etl.batch_read(')) {
            await query('delete from explorer.read_batches');
            await query(`select etl.recount_batches('%')`);
          }
          return own.execute(statement);
        };
      },
    });
    return kindOf(run.operation).nextWalk(repaired, run, new Date());
  });

  expect(planned).toMatchObject({ scope: { batch: 1 } });
});
