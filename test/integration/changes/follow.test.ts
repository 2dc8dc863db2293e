import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { drizzle } from 'drizzle-orm/node-postgres';
import { expect, test } from 'vitest';
import { publishChanges } from '../../../src/db/changes.ts';
import { freshDatabase } from '../../harness/database.ts';
import { hashOf, load } from '../load/loader.ts';
import { follow } from './follow.ts';

const docs = join(import.meta.dirname, '../../../docs');
const page = join(docs, 'follow-changes.md');

test('a reader beside three lanes that are killed and replace blocks has every row and every change', async () => {
  const { lost, readings, operations, reorgs } = await follow({ seed: 1, rows: 5_000 });
  expect(lost).toEqual({});
  expect([readings > 5, operations > 3_000, reorgs > 100]).toEqual([true, true, true]);
});

test('the loop in SQL of docs/follow-changes.md copies what is new and what changed', async () => {
  const [, loop = ''] = /```sql\n(.*?)```/su.exec(readFileSync(page, 'utf8')) ?? [];
  const [setUp = '', turn = ''] = loop.split('-- Each time:');
  const { pool, query } = await freshDatabase();
  await pool.query(`create schema mine; ${setUp}`);
  const show = async (page_id: number, statuses: readonly boolean[]) => {
    const items = statuses.map((status, n) => ({ hash: hashOf(n), status }));
    await load(pool, 'user-operations', [{ page_id, items }]);
    await publishChanges(drizzle(pool), 'in silence');
    await pool.query(turn);
    return (await query('select status from mine.user_operations order by hash')).map(
      ({ status }) => status,
    );
  };
  expect(await show(1, [true, true])).toEqual([true, true]);
  expect(await show(2, [true, false, true])).toEqual([true, false, true]);
});

test('a reader sees what the statements of docs/operating.md change', async () => {
  const text = readFileSync(join(docs, 'operating.md'), 'utf8');
  const statements = [...text.matchAll(/```sql\n(update explorer\..*?)```/gsu)].map(
    ([, sql = '']) => sql,
  );
  const { query } = await freshDatabase();
  for (const statement of statements) await query(`explain ${statement}`);
  expect(statements.map((sql) => sql.includes('updated_at = etl.change_time()'))).toEqual([
    true,
    true,
  ]);
});
