import { sql } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/node-postgres';
import { expect, onTestFinished, test } from 'vitest';
import { createPool } from '../../../src/db/pool.ts';
import { post, transactPosting } from '../../../src/db/transaction.ts';
import { freshDatabase } from '../../support/database.ts';

async function pipelined() {
  const { url, pool } = await freshDatabase('empty');
  const own = createPool({ url, max: 1, applicationName: 'explorer-etl test', isPipelined: true });
  onTestFinished(() => own.end());
  await pool.query('create table told (n int primary key)');
  const numbers = async () =>
    (await pool.query<{ n: number }>('select n from told order by n')).rows.map(({ n }) => n);
  return { db: drizzle(own), numbers };
}
const tell = (n: number) => sql`insert into told values (${n})`;

test('what is posted is done before what is sent after it, and committed', async () => {
  const { db, numbers } = await pipelined();
  await transactPosting(db, async (tx) => {
    await post(tx, tell(1));
    await post(tx, tell(2));
    const { rows } = await tx.execute(sql`select count(*)::int as count from told`);
    expect(rows).toEqual([{ count: 2 }]);
    await post(tx, tell(3));
  });
  expect(await numbers()).toEqual([1, 2, 3]);
});

test.each([
  ['nothing is waited for after it', async () => undefined],
  ['another statement fails because of it', (run: () => Promise<unknown>) => run()],
])('a posted statement that fails is what is thrown, where %s', async (_name, then) => {
  const { db, numbers } = await pipelined();
  const failing = transactPosting(db, async (tx) => {
    await post(tx, tell(1));
    await post(tx, tell(1));
    await then(() => tx.execute(tell(2)));
  });
  await expect(failing).rejects.toMatchObject({ cause: { code: '23505' } });
  expect(await numbers()).toEqual([]);
});
