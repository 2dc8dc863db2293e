import { randomUUID } from 'node:crypto';
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

const aProcess = () => ({ workerId: randomUUID(), deployment: null });

test('a lane returns to the queue when the session of its worker ends, and not before', async () => {
  const { url, db } = await freshDatabase();
  await installQueues(url);
  const log = createLog('silent', () => undefined);
  const boss = await startBoss({ databaseUrl: url, log });
  onTestFinished(() => boss.stop({ graceful: false }));
  const named = { ...lane, chain_name: 'optimism', settings: {} };
  await registerFeeds(db, [named], 'file', { origin: 'http://127.0.0.1', isSameData: false });
  const holder = async () => {
    const { rows } = await db.execute<{ holder: LaneHolder }>(
      sql`select ${laneHolder(sql`runs`)} as holder from etl.runs`,
    );
    return rows.map((row) => row.holder.is);
  };
  const presence = await openPresence({ url, isPooled: false }, 'start', aProcess());
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
});

test('a slice whose session was lost releases no lock of the next one', async () => {
  const { url, query } = await freshDatabase();
  const presence = await openPresence({ url, isPooled: false }, 'start', aProcess());
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

/** Watches for lost lanes and workers, as each process does, until the running test ends. */
async function watched(url: string) {
  await installQueues(url);
  const log = createLog('silent', () => undefined);
  const boss = await startBoss({ databaseUrl: url, log });
  const ending = new AbortController();
  const pool = new Pool({ connectionString: url });
  pool.on('error', () => undefined);
  const watching = watchForLostLanes(pool, boss, log, ending.signal);
  onTestFinished(async () => {
    ending.abort();
    await watching;
    await pool.end();
    await boss.stop({ graceful: false });
  });
  return { boss };
}

test('workers that lose their sessions together are one lost connection on the timeline, and none is killed', async () => {
  const { url, query, db } = await freshDatabase();
  const { boss } = await watched(url);
  const way = { url, isPooled: false };
  const presences = [
    await openPresence(way, 'start', aProcess()),
    await openPresence(way, 'once', aProcess()),
  ];
  onTestFinished(async () => void (await Promise.all(presences.map((each) => each.close()))));
  const lanes = [10, 8453, 42220].map((chain_id) => ({ ...lane, chain_id }));
  const feeds = lanes.map((own) => ({ ...own, chain_name: 'chain', settings: {} }));
  await registerFeeds(db, feeds, 'file', { origin: 'http://127.0.0.1', isSameData: false });
  for (const own of lanes) {
    await openLane(db, boss, { lane: own, scope: {} });
    await presences[0]?.hold(own);
  }
  const sessions = () => query('select backend from etl.workers order by 1');
  const before = await sessions();
  expect(before).toHaveLength(2);

  await query('select pg_terminate_backend(backend::int) from etl.workers');

  await eventually('both to connect again', async () => {
    const now = await sessions();
    return (
      now.length === 2 && now.every(({ backend }) => !before.some((old) => old.backend === backend))
    );
  });
  await eventually('the lanes to be given back', async () => {
    const rows = await query('select from etl.runs where taken_up_at is not null');
    return rows.length === 0;
  });
  expect(await query('select kind, feed from etl.events')).toEqual([
    { kind: 'connection-lost', feed: null },
  ]);
});

test('a worker that is killed between two polls is on the timeline, once', async () => {
  const { url, query } = await freshDatabase();
  await query(
    `insert into etl.workers (id, kind, host, version, backend) values (gen_random_uuid(), 'start', 'h', '0', 0)`,
  );
  const presence = await openPresence({ url, isPooled: false }, 'start', aProcess());
  onTestFinished(() => presence.close());

  await watched(url);
  await watched(url);

  await eventually('it to be missed', async () => {
    const rows = await query(
      `update etl.workers set missing_since = missing_since - interval '11 seconds' where missing_since is not null returning id`,
    );
    return rows.length === 1;
  });
  await eventually(
    'it to be gone',
    async () => (await query('select from etl.workers')).length === 1,
  );
  expect(await query('select kind, feed from etl.events')).toEqual([
    { kind: 'killed', feed: null },
  ]);
});

test('a worker that stops by itself is not missed', async () => {
  const { url, query } = await freshDatabase();
  const presence = await openPresence({ url, isPooled: false }, 'start', aProcess());
  expect(await query('select kind from etl.workers')).toEqual([{ kind: 'start' }]);

  await presence.close();

  expect(await query('select from etl.workers')).toEqual([]);
});
