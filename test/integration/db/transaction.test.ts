import { sql } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/node-postgres';
import { expect, onTestFinished, test } from 'vitest';
import { createPool } from '../../../src/db/pool.ts';
import { isConnectionLost } from '../../../src/db/failure.ts';
import { transact } from '../../../src/db/transaction.ts';
import { databaseAt, freshDatabase } from '../../harness/database.ts';
import { eventually } from '../../harness/process.ts';
import { openDatabaseProxy } from '../../harness/servers.ts';

test('a transaction that the server ended as idle is retried, and written once', async () => {
  const { pool: watch, url } = await freshDatabase();
  await watch.query('create table public.notes (attempt integer)');
  const { db } = databaseAt(url, 1);
  let attempts = 0;

  await transact(db, async (tx) => {
    attempts += 1;
    await tx.execute(sql`insert into public.notes values (${attempts})`);
    if (attempts > 1) return;
    const { rows } = await tx.execute<{ pid: number }>(sql`select pg_backend_pid() as pid`);
    await tx.execute(sql`set local idle_in_transaction_session_timeout = '20ms'`);
    await eventually('the end of the session', async () => {
      const alive = 'select from pg_stat_activity where pid = $1';
      return (await watch.query(alive, [rows[0]?.pid])).rowCount === 0;
    });
    await tx.execute(sql`select`);
  });

  expect((await watch.query('select * from public.notes')).rows).toEqual([{ attempt: 2 }]);
});

test('a connection that does not answer is closed, and the next one is used', async () => {
  const proxy = await openDatabaseProxy((await freshDatabase('empty')).url);
  const dbTimeouts = { answerMs: 500 };
  const pool = createPool({
    url: proxy.url,
    max: 1,
    applicationName: 'explorer-etl test',
    dbTimeouts,
  });
  onTestFinished(() => pool.end());
  const read = () => transact(drizzle(pool), (tx) => tx.execute(sql`select 7 as read`));
  await read();

  proxy.set('swallow');
  const error = await read().catch((failure: unknown) => failure);
  expect(isConnectionLost(error)).toBe(true);

  proxy.set('open');
  expect((await read()).rows).toEqual([{ read: 7 }]);
});
