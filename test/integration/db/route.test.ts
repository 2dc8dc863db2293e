import { Client, type Pool } from 'pg';
import { describe, expect, onTestFinished, test } from 'vitest';
import { isConnectionLost } from '../../../src/db/failure.ts';
import { withAdvisoryLock } from '../../../src/db/lock.ts';
import { createPool } from '../../../src/db/pool.ts';
import { findRoute, findWays, PoolerError } from '../../../src/db/route.ts';
import { workTimeouts } from '../../../src/db/timeouts.ts';
import { inTransaction } from '../../../src/db/transaction.ts';
import { freshDatabase } from '../../harness/database.ts';
import { openDatabaseProxy, poolerVersion, startPooler } from '../../harness/servers.ts';
import { eventually } from '../../harness/process.ts';

test('a way that only passes bytes on is direct', async () => {
  const { url } = await freshDatabase('empty');
  const proxy = await openDatabaseProxy(url);
  expect(await findRoute(url)).toEqual({ is: 'direct' });
  expect(await findRoute(proxy.url)).toEqual({ is: 'direct' });
});

test('a direct way to another database is refused, whatever stands in front', async () => {
  const [one, other] = [await freshDatabase('empty'), await freshDatabase('empty')];
  await expect(findWays(one.url, other.url)).rejects.toThrow(PoolerError);
  await expect(findWays(one.url, other.url)).rejects.toThrow(/different databases/u);
  await expect(findWays(one.url, 'postgres://127.0.0.1:1/none')).rejects.toThrow(
    /DATABASE_URL_DIRECT can't be used: connection refused/u,
  );
  expect(await findWays(one.url, one.url)).toEqual({
    route: { is: 'direct' },
    session: { url: one.url, isPooled: false },
  });
});

test('behind a pooler, each transaction has its own settings, as a session keeps none', async () => {
  const pool = poolOn((await freshDatabase('empty')).url);
  const settings = `select current_setting('idle_in_transaction_session_timeout') as limit,
                           current_setting('jit') as jit`;
  const { rows } = await inTransaction(pool, (session) => session.query(settings));
  expect(rows).toEqual([{ limit: '2500ms', jit: 'off' }]);
  expect((await pool.query(settings)).rows).not.toEqual(rows);
});

describe.skipIf(poolerVersion() === null)('PgBouncer (skipped where it is not installed)', () => {
  const named = /^PgBouncer/u;

  test('in transaction mode is recognised though it hands out the same session each time', async () => {
    const { url } = await freshDatabase('empty');
    // Its console tells everybody its version, that of the other one tells nobody.
    const one = await startPooler(url, {
      pool_mode: 'transaction',
      default_pool_size: 1,
      auth_type: 'any',
    });
    const many = await startPooler(url, { pool_mode: 'transaction', server_round_robin: 1 });
    const versioned = expect.stringMatching(/^PgBouncer \d/u);
    expect(await findRoute(one.through(url))).toEqual({ is: 'transaction', pooler: versioned });
    await openMany(many.through(url), 5);
    const found = { is: 'transaction', pooler: 'PgBouncer' };
    expect(await findRoute(many.through(url))).toEqual(found);
    await expect(findWays(one.through(url), null)).rejects.toThrow(/DATABASE_URL_DIRECT/u);
    await expect(findWays(one.through(url), one.through(url))).rejects.toThrow(PoolerError);
    expect((await findWays(one.through(url), url)).session).toEqual({ url, isPooled: false });
  });

  test('in session mode keeps sessions', async () => {
    const { url } = await freshDatabase('empty');
    const pooler = await startPooler(url, { pool_mode: 'session' });
    const pooled = pooler.through(url);
    await openMany(pooled, 5);
    expect(await findWays(pooled, null)).toEqual({
      route: { is: 'session', pooler: expect.stringMatching(named) },
      session: { url: pooled, isPooled: true },
    });
  });

  test('keeps no lock of a client that is gone', async () => {
    const { url, pool } = await freshDatabase('empty');
    const pooler = await startPooler(url, { pool_mode: 'transaction' });
    const cut = await openDatabaseProxy(pooler.through(url));
    const lock = { key: 11n, work: 'is cut off' };
    let holds = false;
    const cutOff = withAdvisoryLock(poolOn(cut.url), lock, async () => {
      holds = true;
      await eventually('to be cut off', async () => cut.connections === 0);
    });
    cutOff.catch(() => undefined);
    await eventually('the lock', async () => holds);
    cut.cutAll();
    expect(isConnectionLost(await cutOff.catch((error: unknown) => error))).toBe(true);
    expect(await withAdvisoryLock(pool, lock, async () => 'entered')).toBe('entered');
  });
});

/** As the program's own for pages. */
function poolOn(url: string): Pool {
  const pool = createPool({
    url,
    max: 10,
    applicationName: 'explorer-etl test',
    dbTimeouts: workTimeouts,
    settings: { jit: 'off' },
    pooled: 'transactions',
  });
  onTestFinished(() => pool.end());
  return pool;
}

/** Lets a pooler have some idle sessions. */
async function openMany(url: string, count: number): Promise<void> {
  const clients = Array.from({ length: count }, () => new Client({ connectionString: url }));
  for (const client of clients) {
    await client.connect();
    await client.query('begin');
  }
  for (const client of clients) {
    await client.query('commit');
    await client.end();
  }
}
