import { Client, type Pool } from 'pg';
import { describe, expect, onTestFinished, test } from 'vitest';
import { describeDatabaseError, isConnectionLost } from '../../../src/db/failure.ts';
import { withAdvisoryLock } from '../../../src/db/lock.ts';
import { createPool, workTimeouts } from '../../../src/db/pool.ts';
import { demandSession, PoolerError } from '../../../src/db/route.ts';
import { freshDatabase } from '../../harness/database.ts';
import { openDatabaseProxy, poolerVersion, startPooler } from '../../harness/servers.ts';
import { eventually } from '../../harness/process.ts';

test('a proxy that only forwards bytes is no pooler', async () => {
  const { url } = await freshDatabase('empty');
  const proxy = await openDatabaseProxy(url);
  expect(await demandSession(url)).toEqual({ url, isPooled: false });
  expect(await demandSession(proxy.url)).toEqual({ url: proxy.url, isPooled: false });
});

describe.skipIf(poolerVersion() === null)('PgBouncer (skipped where it is not installed)', () => {
  test('in transaction mode is refused, even if it returns the same session each time', async () => {
    const { url } = await freshDatabase('empty');
    const one = await startPooler(url, { pool_mode: 'transaction', default_pool_size: 1 });
    const many = await startPooler(url, { pool_mode: 'transaction', server_round_robin: 1 });
    await openMany(many.through(url), 5);
    await expect(demandSession(one.through(url))).rejects.toThrow(PoolerError);
    await expect(demandSession(many.through(url))).rejects.toThrow(PoolerError);
  });

  test('in session mode keeps sessions', async () => {
    const { url } = await freshDatabase('empty');
    const pooler = await startPooler(url, { pool_mode: 'session' });
    const pooled = pooler.through(url);
    await openMany(pooled, 5);
    expect(await demandSession(pooled)).toEqual({ url: pooled, isPooled: true });
  });

  test('that has no session left is named as what may not answer', async () => {
    const { url } = await freshDatabase('empty');
    const pooler = await startPooler(url, { pool_mode: 'session', default_pool_size: 1 });
    const error: unknown = await demandSession(pooler.through(url), 500).catch(
      (reason: unknown) => reason,
    );
    expect(describeDatabaseError(error)).toMatch(/in time; a pooler.* may have no session left$/u);
  });

  test('a pooled session has no schema of other users in its search path', async () => {
    const { url } = await freshDatabase('empty');
    const pooler = await startPooler(url, { pool_mode: 'session' });
    const { rows } = await poolOn(pooler.through(url)).query('show search_path');
    expect(rows).toEqual([{ search_path: 'pg_catalog,pg_temp' }]);
  });

  test.each(['other, pg_catalog', '"pg_catalog-", pg_catalog'])(
    'a database whose search path is %s is refused',
    async (path) => {
      const { url, query } = await freshDatabase('empty');
      await query(`alter database ${new URL(url).pathname.slice(1)} set search_path = ${path}`);
      const pooler = await startPooler(url, { pool_mode: 'session' });
      await expect(demandSession(pooler.through(url))).rejects.toThrow(/other schemas before/u);
    },
  );

  test('keeps no lock of a client whose connection was lost', async () => {
    const { url, pool } = await freshDatabase('empty');
    const pooler = await startPooler(url, { pool_mode: 'session' });
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
    isPooled: true,
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
