import { expect, onTestFinished, test } from 'vitest';
import { untilLocked } from '../../harness/database.ts';
import { hashOf } from '../../harness/kept.ts';
import { forTheEnd, lyingList } from './lying-list.ts';

test('pages that lose a deadlock are still written, are requested once, and lock coverage last', async () => {
  const { list, database, sync, query, expectComplete } = await lyingList([{ block: 1, id: 1 }]);
  await sync();
  list.operations.push({ block: 2, id: 2, sender: 'a new name' });
  const other = await database.pool.connect();
  onTestFinished(() => other.release(true));
  // Postgres looks for a deadlock once in a wait: the page's look comes when there is one, the other's never.
  await query(`do $$ begin
    execute format('alter database %I set deadlock_timeout = ''5s''', current_database());
  end $$`);
  await other.query(`begin; set local deadlock_timeout = '1h'`);
  await other.query('update explorer.addresses set updated_at = now()');

  const syncing = sync();
  // The page holds its operations and waits for their addresses: now each waits for the other.
  await untilLocked(database.pool);
  // What it shares with the other walks of its lane it locks last.
  await query('select from etl.coverage for update nowait');
  await other.query(
    `update explorer.user_operations set updated_at = now() where hash = '${hashOf(1)}'`,
  );
  await other.query('commit');

  expect(await syncing).toBe(1 + forTheEnd);
  await expectComplete();
});
