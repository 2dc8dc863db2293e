import { expect, test } from 'vitest';
import { expireArchive } from '../../../src/sync/archive.ts';
import { batchWorld, fullBatch } from '../../harness/batch-world.ts';
import { oneEach } from '../../harness/kept.ts';
import { ledgerFaults } from '../../harness/ledger.ts';
import { replayed } from '../archive/archive.ts';
import { hourMs, minuteMs, watchOperations } from '../sync/watch.ts';
import { ledgerOf, listWorld } from './world.ts';

test('deep polls that brought nothing are pruned, and late and removed items stay as they were', async () => {
  const motion = { operationsPerMinute: 0.2, latePercent: 10, orphanedPercent: 5 };
  const watch = () =>
    watchOperations({ motion }, { pageSize: 10, resweep: [{ depthMs: hourMs, everyMs: hourMs }] });
  const [pruned, kept] = [await watch(), await watch()];
  const ledger = ledgerOf(pruned.database);
  for (const { runAt } of [pruned, kept]) {
    for (let atMs = 0; atMs < 3 * hourMs; atMs += 5 * minuteMs) await runAt(atMs);
  }
  await ledger.age(100);
  const before = await ledger.reported();

  const gone = await ledger.prune();

  expect(gone.walks).toBeGreaterThan(0);
  expect(await ledger.reported()).toEqual(before);
  // What is due is judged by when walks began.
  await ledger.age(-100);
  for (const { runAt } of [pruned, kept]) {
    for (let atMs = 3 * hourMs; atMs < 5 * hourMs; atMs += 5 * minuteMs) await runAt(atMs);
  }
  expect(await pruned.stored()).toEqual(await kept.stored());
  const covered = 'select covered::text from etl.feed_coverage';
  expect(await pruned.query(covered)).toEqual(await kept.query(covered));
  expect(await ledgerFaults(pruned.database.pool, 'ended')).toEqual({});
});

test('polls of batches that are verified since are pruned, and those that are still counted stay', async () => {
  const { list, poll, database, verify } = await batchWorld(6);
  const { age, prune, reported, walks } = ledgerOf(database);
  for (let minute = 0; minute <= 120; minute += 10) {
    if (minute % 40 === 0 && minute > 0)
      list.batches.set(6 + minute / 40, fullBatch(6 + minute / 40));
    await poll(minute, minute === 0 ? 'sync' : 'schedule');
  }
  await age(100);
  const before = { reported: await reported(), verify: await verify() };
  const { walks: all } = await walks();

  const gone = await prune();

  expect(gone.walks).toBeGreaterThan(0);
  expect(gone.walks).toBeLessThan(all / 2);
  expect({ reported: await reported(), verify: await verify() }).toEqual(before);
  await age(-100);
  // One poll above the newest batch, and nothing that was read before.
  const requested = await poll(130);
  expect(requested.filter((number) => number < 8)).toEqual([]);
  expect((await verify()).open).toEqual([]);
});

test('polls whose bodies are archived stay, so that replay finds all', async () => {
  const { database, db, list, sync, age, prune, reported } = await listWorld(60, {
    archive: 'all',
  });
  await sync(4);
  list.operations.push(...oneEach(61, 62));
  await sync(4);
  const whole = await replayed(database);
  await age(100);
  expect(await prune()).toEqual({ walks: 0, pages: 0, runs: 0 });

  await expireArchive(db, 90, new Date(), new AbortController().signal);
  const before = await reported();
  expect((await prune()).walks).toBeGreaterThan(0);

  expect(await reported()).toEqual(before);
  expect(whole.pages).toBeGreaterThan(0);
  expect((await replayed(database)).pages).toBe(0);
});
