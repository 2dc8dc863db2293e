import { sql } from 'drizzle-orm';
import { Pool } from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { locks } from '../../../src/sync/workers.ts';
import { createLog } from '../../../src/log.ts';
import { registerFeeds } from '../../../src/sync/feeds.ts';
import { installQueues, openLane, sliceQueue, startBoss } from '../../../src/sync/queue.ts';
import { openPresence, watchForLostLanes } from '../../../src/sync/worker.ts';
import { laneHolder, type LaneHolder } from '../../../src/sync/workers.ts';
import { freshDatabase } from '../../harness/database.ts';
import { eventually } from '../../harness/process.ts';

const lane = { chain_id: 10, operation: 'user-operations', lane: 'backfill' } as const;

test('a lane returns to the queue when the session of its worker ends, and not before', async () => {
  const { url, query, db } = await freshDatabase();
  await installQueues(url);
  const log = createLog('silent', () => undefined);
  const boss = await startBoss({ databaseUrl: url, log, supervise: false });
  onTestFinished(() => boss.stop({ graceful: false }));
  const named = { ...lane, chain_name: 'optimism', settings: {} };
  await registerFeeds(db, [named], 'file', { origin: 'http://127.0.0.1', isSameData: false });
  const holder = async () => {
    const { rows } = await db.execute<{ holder: LaneHolder }>(
      sql`select ${laneHolder(sql`runs`)} as holder from etl.runs`,
    );
    return rows.map((row) => row.holder.is);
  };
  const presence = await openPresence({ url, isPooled: false }, 'start');
  await openLane(db, boss, { lane, scope: {} });
  expect(await holder()).toEqual(['queued']);

  const [job] = await boss.fetch(sliceQueue);
  await presence.hold(lane);
  expect(await holder()).toEqual(['held']);
  const ending = new AbortController();
  const watchPool = new Pool({ connectionString: url });
  let polls = 0;
  watchPool.on('release', () => (polls += 1));
  const watching = watchForLostLanes(watchPool, boss, log, ending.signal);
  onTestFinished(async () => {
    ending.abort();
    await watching;
    await watchPool.end();
  });
  await eventually('two polls of the watch', async () => polls >= 2);
  expect(await holder()).toEqual(['held']);
  expect(await boss.fetch(sliceQueue)).toEqual([]);

  await presence.close();
  await eventually('the lane to be taken back', async () => {
    const [again] = await boss.fetch(sliceQueue);
    return again?.id === job?.id && again !== undefined;
  });
  expect(await holder()).toEqual(['queued']);
  // Once, however many look for lost lanes: the timeline shows it.
  const rows = await query('select kind, feed from etl.events');
  expect(rows).toEqual([{ kind: 'killed', feed: '10/user-operations' }]);
});

test('a slice whose session was lost releases no lock of the next one', async () => {
  const { url, query } = await freshDatabase();
  const presence = await openPresence({ url, isPooled: false }, 'start');
  onTestFinished(() => presence.close());
  const lost = await presence.hold(lane);
  await query('select pg_terminate_backend($1)', [lost]);
  const next = await eventually('another session', () => presence.hold(lane).catch(() => null));
  const held = () =>
    query("select from pg_locks where locktype = 'advisory' and pid = $1 and classid = $2", [
      next,
      locks.lane,
    ]);

  await presence.release(lane, lost);
  expect(await held()).toHaveLength(1);

  await presence.release(lane, next);
  expect(await held()).toHaveLength(0);
});
