import { sql } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/node-postgres';
import { expect, onTestFinished, test } from 'vitest';
import { createPool } from '../../../src/db/pool.ts';
import { ask, post, together, transact } from '../../../src/db/transaction.ts';
import { freshDatabase } from '../../harness/database.ts';

async function openScene() {
  const { url, pool } = await freshDatabase('empty');
  const own = createPool({
    url,
    max: 1,
    applicationName: 'explorer-etl test',
    planned: 'labelled',
    isPipelined: true,
  });
  onTestFinished(() => own.end());
  await pool.query('create table told (n int primary key)');
  const numbers = async () =>
    (await pool.query<{ n: number }>('select n from told order by n')).rows.map(({ n }) => n);
  return { own, db: drizzle(own), numbers };
}

const tell = (n: number) => sql`/* tell */ insert into told values (${n}) returning n, now() as at`;

test('what is asked side by side is answered by itself, in the order of asking', async () => {
  const { db, numbers } = await openScene();

  const answers = await transact(db, async (tx) => {
    const [none, one, all] = await together(
      tx.execute(sql`select n from told`),
      tx.execute(tell(1)),
      tx.execute(sql`/* all */ select array_agg(n) as all, ${'text'} as text from told`),
    );
    await post(tx, tell(2));
    const last = await ask(tx, tell(3));
    return { rows: [none.rows, one.rows.map(({ n }) => n), all.rows], last };
  });

  expect(answers.rows).toEqual([[], [1], [{ all: [1], text: 'text' }]]);
  expect(await answers.last.rows).toMatchObject([{ n: 3 }]);
  expect(await numbers()).toEqual([1, 2, 3]);
});

test.each([
  ['asked', (n: number) => [n, n]],
  ['posted before the end', (n: number) => [n, n, n]],
])('a statement that fails among others that are %s undoes them all', async (_how, twice) => {
  const { db, numbers } = await openScene();
  const failing = transact(db, async (tx) => {
    await post(tx, tell(1));
    for (const n of twice(2)) await post(tx, tell(n));
    await post(tx, tell(4));
  });
  await expect(failing).rejects.toMatchObject({ cause: { code: '23505' } });
  const failingTogether = transact(db, (tx) =>
    together(...[5, ...twice(6), 7].map((n) => tx.execute(tell(n)))),
  );
  await expect(failingTogether).rejects.toMatchObject({ cause: { code: '23505' } });

  expect(await numbers()).toEqual([]);
  await transact(db, (tx) => post(tx, tell(8)));
  expect(await numbers()).toEqual([8]);
});

test('a connection knows which statements of a failed batch were never parsed', async () => {
  const { own } = await openScene();
  const client = await own.connect();
  onTestFinished(() => client.release());
  const one = { text: '/* one */ select 1 / $1::int as n', values: [0] };
  const other = { text: '/* other */ select $1::int as n', values: [2] };

  const [failed, passedOver] = await Promise.allSettled([client.query(one), client.query(other)]);

  expect(failed).toMatchObject({ reason: { code: '22012' } });
  expect(passedOver).toMatchObject({ reason: { code: '25P02' } });
  const answers = await Promise.all([client.query({ ...one, values: [1] }), client.query(other)]);
  expect(answers.map(({ rows }) => rows)).toEqual([[{ n: 1 }], [{ n: 2 }]]);
});

test('of a batch with a value that cannot be spelled nothing is sent', async () => {
  const { own, numbers } = await openScene();
  const client = await own.connect();
  onTestFinished(() => client.release());
  const endless: Record<string, unknown> = {};
  endless['self'] = endless;
  const insert = { text: 'insert into told values ($1)', values: [1] };

  const settled = await Promise.allSettled([
    client.query(insert),
    client.query({ text: 'select $1::jsonb', values: [endless] }),
    client.query(insert),
  ]);

  expect(settled.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
  expect(await numbers()).toEqual([]);
  await Promise.all([client.query(insert), client.query({ ...insert, values: [2] })]);
  expect(await numbers()).toEqual([1, 2]);
});
