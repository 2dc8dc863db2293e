import type { Pool } from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { createPool } from '../../../src/db/pool.ts';
import { readAnswer } from '../../../src/query/read.ts';
import { openDatabaseProxy } from '../../harness/servers.ts';
import { freshDatabase } from '../../harness/database.ts';
import { eventually } from '../../harness/process.ts';

/** A pool of one connection, by a route to Postgres that can fall silent. */
async function silentRoute() {
  const { url } = await freshDatabase('empty');
  const proxy = await openDatabaseProxy(url);
  const pool = createPool({ url: proxy.url, max: 1, applicationName: 'explorer-etl test' });
  onTestFinished(async () => {
    await proxy.close();
    if (!pool.ended) await pool.end();
  });
  return { proxy, pool };
}

/** Starts a statement without an answer, and interrupts it. */
function interrupted(pool: Pool) {
  const stop = new AbortController();
  const bounds = { timeoutMs: 0, limit: null, signal: stop.signal };
  const reason = new Error('SIGINT');
  const requested = readAnswer(pool, { text: 'select 1', values: [] }, bounds).next();
  const ended = requested.catch((error: unknown) => error);
  return { ended, reason, stop: () => stop.abort(reason) };
}

test('a signal while query connects ends it at once', async () => {
  const { proxy, pool } = await silentRoute();
  proxy.set('swallow');
  const { ended, reason, stop } = interrupted(pool);
  await eventually('it to connect', async () => proxy.connections === 1);
  stop();
  expect(await ended).toBe(reason);
});

test('a signal while query waits for a connection releases the one that it gets later', async () => {
  const { pool } = await silentRoute();
  const other = await pool.connect();
  const { ended, reason, stop } = interrupted(pool);
  expect(pool.waitingCount).toBe(1);
  stop();
  expect(await ended).toBe(reason);
  other.release();
  await eventually('no connection to be left', async () => pool.totalCount === 0);
});

test('a signal while the transaction begins ends query and its connection', async () => {
  const { proxy, pool } = await silentRoute();
  await pool.query('select 1');
  proxy.set('swallow');
  const { ended, reason, stop } = interrupted(pool);
  await eventually('it to take the connection', async () => pool.idleCount === 0);
  stop();
  expect(await ended).toBe(reason);
  await eventually('no connection to be left', async () => pool.totalCount === 0);
});
