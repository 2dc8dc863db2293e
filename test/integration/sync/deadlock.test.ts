import { expect, onTestFinished, test } from 'vitest';
import { freshDatabase, untilLocked } from '../../harness/database.ts';
import { hashOf, listOperations } from '../../harness/listed-operations.ts';
import { listedChain, runSync } from '../../harness/sync.ts';

test('pages that lose a deadlock are written all the same, and requested once', async () => {
  const list = await listOperations([{ block: 1, id: 1 }]);
  const database = await freshDatabase();
  const sync = () =>
    runSync(database, { url: list.url, chains: [listedChain], operations: ['user-operations'] });
  await sync();
  list.takeRequests();
  list.operations.push({ block: 2, id: 2, sender: 'a new name' });
  const other = await database.pool.connect();
  onTestFinished(() => other.release(true));
  // Postgres looks for a deadlock once in a wait: the page's look comes when there is one, the other's never.
  await database.pool.query(`do $$ begin
    execute format('alter database %I set deadlock_timeout = ''5s''', current_database());
  end $$`);
  await other.query(`begin; set local deadlock_timeout = '1h'`);
  await other.query('update explorer.addresses set updated_at = now()');

  const syncing = sync();
  // The page holds its operations and waits for their addresses: now each waits for the other.
  await untilLocked(database.pool);
  await other.query(
    `update explorer.user_operations set updated_at = now() where hash = '${hashOf(1)}'`,
  );
  await other.query('commit');

  expect((await syncing).map(({ state }) => state)).toEqual(['finished']);
  // Once for the page, and once because nothing supports that the list ends with it.
  expect(list.takeRequests()).toBe(2);
  const { rows } = await database.pool.query(
    'select hash from explorer.user_operations order by 1',
  );
  expect(rows).toEqual([{ hash: hashOf(1) }, { hash: hashOf(2) }]);
});
