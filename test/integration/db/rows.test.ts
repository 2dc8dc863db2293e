import { drizzle } from 'drizzle-orm/node-postgres';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { rowOf } from '../../../src/db/column-types.ts';
import { execute, rowsOf } from '../../../src/db/transaction.ts';
import { runs } from '../../../src/lists/tables.ts';
import { freshDatabase } from '../../harness/database.ts';

const named = () => z.object({ name: z.string() });

test('tests refuse a row without a column that its statement is declared to have, or with null where none is declared', async () => {
  const { pool } = await freshDatabase();
  const db = drizzle(pool);
  expect(await execute(db).row(named)`select 'optimism' as name`).toEqual({ name: 'optimism' });
  for (const answer of [
    () => execute(db).row(named)`select 'optimism' as title`,
    () => execute(db).rows(named)`select null::text as name`,
    () => execute(db).values(z.number)`select 1::bigint`,
    () => execute(db).value(z.string)`select 1`,
    () => rowsOf(pool, named, 'select $1::text as title', ['optimism']),
  ]) {
    await expect(answer()).rejects.toThrow(z.ZodError);
  }
  // No row is no row of another shape.
  expect(await execute(db).row(named)`select 1 as title where false`).toBeNull();
  expect(await execute(db).value(z.string)`select null`).toBeNull();
});

test('tests refuse a whole row of a table that lacks a column', async () => {
  const { pool, query } = await freshDatabase();
  await query(`
    insert into etl.feeds (chain_id, operation, kind, settings, origin, unit)
    values (10, 'user-operations', 'newest-first', '{}', 'https://x', 'blocks');
    insert into etl.runs (chain_id, operation, lane, scope) values (10, 'user-operations', 'live', '{}')`);
  const whole = () => z.object({ run: rowOf(runs) });
  const db = drizzle(pool);
  const found = await execute(db).row(whole)`select to_jsonb(runs) as run from etl.runs`;
  expect(found?.run.lane).toBe('live');
  await expect(
    () => execute(db).row(whole)`select to_jsonb(runs) - 'lane' as run from etl.runs`,
  ).rejects.toThrow(z.ZodError);
});
