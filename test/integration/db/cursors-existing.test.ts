import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { freshDatabase } from '../../support/database.ts';

test('cursors that an older version kept with a page size are known again without it', async () => {
  const { pool } = await freshDatabase();
  const walk = `insert into etl.walks (chain_id, operation, lane, tick_id, kind, scope, cursor)
    values (10, 'user-operations', 'live', 1, 'sweep', $1, $2) returning id`;
  const { rows } = await pool.query<{ id: string }>(walk, [
    { max_pages: 9, until: { page_size: 10, page_token: 'u' } },
    { page_size: 10, page_token: 'c' },
  ]);
  await pool.query(walk, [{ batch: 7 }, { block_number: 5, items_count: 50 }]);
  await pool.query(
    `insert into etl.pages (walk_id, sequence, cursor_in, cursor_out, items, rows, repeats, quarantined,
       inserted, changed, bytes, body_hash, attempts, latency_ms, credits, fetched_at)
     values ($1, 0, null, '{"page_size": 10, "page_token": "b"}', 0, 0, 0, 0, 0, 0, 0, '', 1, 0, 20, now()),
            ($1, 1, '{"page_size": 10, "page_token": "b"}', null, 0, 0, 0, 0, 0, 0, 0, '', 1, 0, 20, now())`,
    [rows[0]?.id],
  );

  const file = join(import.meta.dirname, '../../../migrations/0016_cursors.sql');
  await pool.query((await readFile(file, 'utf8')).replaceAll('--> statement-breakpoint', ''));

  const walks = await pool.query('select scope, cursor from etl.walks order by id');
  expect(walks.rows).toEqual([
    { scope: { max_pages: 9, until: { page_token: 'u' } }, cursor: { page_token: 'c' } },
    { scope: { batch: 7 }, cursor: { block_number: 5, items_count: 50 } },
  ]);
  const pages = await pool.query('select cursor_in, cursor_out from etl.pages order by sequence');
  expect(pages.rows).toEqual([
    { cursor_in: null, cursor_out: { page_token: 'b' } },
    { cursor_in: { page_token: 'b' }, cursor_out: null },
  ]);
});
