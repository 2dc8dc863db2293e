import { expect, onTestFinished, test } from 'vitest';
import { lostJobs } from '../../../src/jobs/boss-tables.ts';
import { installQueues, sliceQueue, startBoss } from '../../../src/jobs/boss.ts';
import { sendSlice } from '../../../src/jobs/send.ts';
import { openJobLocks } from '../../../src/jobs/takeover.ts';
import { createLog } from '../../../src/log.ts';
import { freshDatabase } from '../../harness/database.ts';

const lane = { chain_id: 10, operation: 'user-operations', lane: 'backfill' } as const;

test('a job that was given back before its lock was there is not worked on, and its next attempt is', async () => {
  const { url, pool } = await freshDatabase();
  await installQueues(url);
  const log = createLog('silent', () => undefined);
  const boss = await startBoss({ databaseUrl: url, log, supervise: false });
  onTestFinished(() => boss.stop({ graceful: false }));
  const locks = await openJobLocks({ url, isPooled: false }, 'start');
  onTestFinished(() => locks.close());
  const lost = async () => (await lostJobs(pool, '0')).map(({ id }) => id);
  await sendSlice(boss, lane);

  const [slow] = await boss.fetch(sliceQueue);
  if (slow === undefined) throw new Error('no job');
  expect(await lost()).toEqual([slow.id]);
  await boss.fail(sliceQueue, { id: slow.id, retryCount: slow.retryCount });
  expect(await locks.hold(slow)).toBe(false);
  await locks.release(slow.id);

  const [next] = await boss.fetch(sliceQueue);
  if (next === undefined) throw new Error('no second attempt');
  expect(await locks.hold(next)).toBe(true);
  expect(await locks.hold(slow)).toBe(false);
  await locks.release(slow.id);
  expect(await lost()).toEqual([]);
  await locks.release(next.id);
  expect(await lost()).toEqual([next.id]);
});
