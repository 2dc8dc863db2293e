import { drizzle } from 'drizzle-orm/node-postgres';
import { expect, onTestFinished, test } from 'vitest';
import { createLog } from '../../../src/log.ts';
import { keepSums } from '../../../src/sync/serve.ts';
import { freshDatabase } from '../../harness/database.ts';
import { eventually } from '../../harness/process.ts';

test('maintenance updates the sums when they are due', async () => {
  const { pool, query } = await freshDatabase();
  const insert = (hash: string) =>
    query(`insert into explorer.user_operations (chain_id, hash, timestamp, address_hash, page_id)
           values (10, '${hash}', '2026-01-01', '0xa', 1)`);
  await query(`insert into explorer.chains (chain_id, name) values (10, 'optimism')`);
  await insert('0x1');
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  let nowMs = 0;
  let turns = 0;
  const now = () => {
    turns += 1;
    return nowMs;
  };
  const log = createLog('silent', () => undefined);
  const kept = keepSums({ db: drizzle(pool), log, now }, stop.signal);
  const sent = async () =>
    Number((await query('select operations from explorer.senders'))[0]?.operations ?? 0);
  await eventually('the first sums', async () => (await sent()) === 1);

  await insert('0x2');
  const before = turns;
  await eventually('a turn that is not due', async () => turns > before + 1);
  expect(await sent()).toBe(1);
  await eventually('the next sums', async () => {
    nowMs += 60_000; // Again and again: the first sums may still be at work, and rest as long.
    return (await sent()) === 2;
  });

  stop.abort();
  await kept;
});
