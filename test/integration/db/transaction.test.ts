import { sql } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/node-postgres';
import { expect, onTestFinished, test } from 'vitest';
import { createPool } from '../../../src/db/pool.ts';
import { transact } from '../../../src/db/transaction.ts';
import { freshDatabase } from '../../harness/database.ts';
import { eventually } from '../../harness/process.ts';
import { hangMs } from '../../harness/hang.ts';

test('a transaction that the server ended for its silence is made again, and written once', async () => {
  const { pool: watch, url } = await freshDatabase();
  await watch.query('create table notes (attempt integer)');
  const pool = createPool({ url, max: 1, applicationName: 'explorer-etl test' });
  onTestFinished(() => pool.end());
  let attempts = 0;

  await transact(drizzle(pool), async (tx) => {
    attempts += 1;
    await tx.execute(sql`insert into notes values (${attempts})`);
    if (attempts > 1) return;
    const { rows } = await tx.execute<{ pid: number }>(sql`select pg_backend_pid() as pid`);
    await tx.execute(sql`set local idle_in_transaction_session_timeout = '20ms'`);
    await eventually('the end of the session', hangMs, async () => {
      const alive = 'select from pg_stat_activity where pid = $1';
      return (await watch.query(alive, [rows[0]?.pid])).rowCount === 0;
    });
    await tx.execute(sql`select`);
  });

  expect((await watch.query('select * from notes')).rows).toEqual([{ attempt: 2 }]);
});

test('a labelled statement whose name its server has forgotten is sent again without one', async () => {
  const { url } = await freshDatabase();
  const pool = createPool({
    url,
    max: 1,
    applicationName: 'explorer-etl test',
    planned: 'labelled',
  });
  onTestFinished(() => pool.end());
  const ask = () =>
    transact(drizzle(pool), async (tx) => {
      const { rows } = await tx.execute(sql`/* a label */ select ${7}::int as told`);
      const { rows: known } = await tx.execute(sql`select from pg_prepared_statements`);
      return [rows[0]?.['told'], known.length];
    });
  expect(await ask()).toEqual([7, 1]);
  // As a pooler that hands the next transaction to another server.
  await pool.query('deallocate all');
  expect(await ask()).toEqual([7, 0]);
  expect(await ask()).toEqual([7, 0]);
});
