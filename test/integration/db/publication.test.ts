import { expect, test } from 'vitest';
import { statusNow } from '../../../src/status/status.ts';
import { createLog } from '../../../src/log.ts';
import { sumUp, tidyUp } from '../../../src/sync/serve.ts';
import { freshDatabase } from '../../harness/database.ts';
import { openCopy, shortChain } from '../../harness/sync.ts';

const signal = new AbortController().signal;

/** A copy of a chain, and the work beside the pages on its database. */
async function copied() {
  const database = await freshDatabase();
  const copy = await openCopy(shortChain, { database });
  const log = createLog('silent', () => undefined);
  const options = { db: copy.db, log, now: performance.now.bind(performance) };
  const maintain = async () => {
    await sumUp(options, signal);
    await tidyUp({ ...options, clock: () => new Date(), archiveDays: 1, ledgerDays: 7 }, signal);
  };
  const failures = async () =>
    (await statusNow(copy.pool, 50)).reasons.filter(({ code }) => code === 'maintenance');
  return { ...copy, maintain, failures };
}

test('a publication for all tables stops no sync, and none of the work beside it', async () => {
  const { query, sync, differing, maintain, failures } = await copied();
  await query('create publication everything for all tables');
  for (let round = 0; round < 2; round += 1) {
    await sync();
    await maintain();
    await query(`update etl.events set at = at - interval '40 days'`);
    await query(`update etl.rollups set begun_at = null`);
  }
  expect(await failures()).toEqual([]);
  expect(await differing()).toEqual({});
});

test.each([
  ['sums', 'Daily sums, senders and batch_stats have not been updated', 'batch_sums'],
  ['housekeeping', 'Expired rows have not been deleted', 'events'],
])('a failure of %s is a reason of status until the next success', async (_, effect, table) => {
  const { query, sync, maintain, failures } = await copied();
  await sync();
  await query(`alter table etl.${table} rename to elsewhere`);
  await maintain();
  const reason = `relation "etl.${table}" does not exist (42P01)`;
  const sentence = expect.stringMatching(/ since \d\d:\d\d UTC: /u);
  expect(await failures()).toMatchObject([
    { severity: 'warning', sentence, command: 'explorer-etl check' },
  ]);
  expect((await failures())[0]?.sentence.split(/ since .{9}: /u)).toEqual([effect, `${reason}.`]);
  await query(`alter table etl.elsewhere rename to ${table}`);
  await maintain();
  expect(await failures()).toEqual([]);
});
