import { expect, onTestFinished, test } from 'vitest';
import { eventually } from '../../harness/process.ts';
import { freshDatabase, untilLocked } from '../../harness/database.ts';
import { addressOf, hashOf, load, stored } from './loader.ts';

/** An operation of its own, and what it says of its sender. */
const item = (id: number, address: number, name: string) => ({
  hash: hashOf(id),
  address: { hash: addressOf(address), name },
});

test('of two transactions that deadlock over several rounds of addresses, the one that loses is repeated', async () => {
  const { pool } = await freshDatabase();
  const known = [1, 2, 3, 4].map((address) => item(address, address, 'known'));
  await load(pool, 'user-operations', [{ page_id: 1, items: known }]);
  const gate = await pool.connect();
  onTestFinished(() => gate.release(true));
  await gate.query('begin');
  await gate.query('select from explorer.addresses where hash = any($1) for update', [
    [addressOf(3), addressOf(4)],
  ]);

  // The first round changes one address, and waits at the gate for another; the second changes what the other has.
  const transactions = [
    { page_id: 10, own: 1, atGate: 3, other: 2 },
    { page_id: 20, own: 2, atGate: 4, other: 1 },
  ].map(({ page_id, own, atGate, other }) => {
    const first = [
      item(page_id, own, `page ${page_id}`),
      item(page_id + 1, atGate, `page ${page_id}`),
      item(page_id + 2, other, 'known'),
    ];
    const second = [item(page_id + 3, other, `page ${page_id + 1}`)];
    return load(pool, 'user-operations', [
      { page_id, items: first },
      { page_id: page_id + 1, items: second },
    ]);
  });
  await untilLocked(pool, 2);
  await gate.query('commit');

  await Promise.all(transactions);
  await eventually('a deadlock', async () => {
    const { rows } = await pool.query<{ deadlocks: number }>(
      'select deadlocks::int from pg_stat_database where datname = current_database()',
    );
    return rows[0]?.deadlocks === 1;
  });
  expect(await stored(pool, 'addresses', 'hash, name, page_id::int')).toEqual([
    { hash: addressOf(1), name: 'page 21', page_id: 21 },
    { hash: addressOf(2), name: 'page 20', page_id: 20 },
    { hash: addressOf(3), name: 'page 10', page_id: 10 },
    { hash: addressOf(4), name: 'page 20', page_id: 20 },
  ]);
});
