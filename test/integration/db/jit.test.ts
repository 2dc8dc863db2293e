import type { Pool } from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { createReader } from '../../../src/http/reader.ts';
import { openDatabase } from '../../../src/cli/database.ts';
import { freshDatabase } from '../../harness/database.ts';

/** A database whose statements are compiled, which takes seconds for a large one. */
async function compilingDatabase() {
  const { query, url } = await freshDatabase('empty');
  await query(
    `do $$ begin execute format('alter database %I set jit = on', current_database()); end $$`,
  );
  return url;
}

const jitOf = async (pool: Pool) => (await pool.query<{ jit: string }>('show jit')).rows;

test('commands that read run without JIT compilation', async () => {
  const databaseUrl = await compilingDatabase();
  const database = await openDatabase({ databaseUrl }, { cwd: '/' });
  onTestFinished(() => database.pool.end());
  expect(await jitOf(database.pool)).toEqual([{ jit: 'off' }]);
});

test('the page reads without JIT compilation', async () => {
  const url = await compilingDatabase();
  const reader = createReader();
  onTestFinished(() => reader.close());
  reader.use(url);
  expect(await jitOf(await reader.pool())).toEqual([{ jit: 'off' }]);
});
