import type { Pool } from 'pg';
import { expect, test } from 'vitest';
import { openWalks, readResumption } from '../../../src/cli/demo-world.ts';
import { freshDatabase } from '../../harness/database.ts';

/** Commits a page that was requested with one cursor and leads to the next. */
const commitPage = (pool: Pool, sequence: number, at: number) =>
  pool.query(
    `insert into etl.pages (walk_id, feed, sequence, cursor_in, cursor_out, items, rows, repeats,
       quarantined, inserted, changed, bytes, body_hash, attempts, latency_ms, credits, fetched_at)
     select id, feed, $1, $2, $3, 0, 0, 0, 0, 0, 0, 0, '', 1, 1, 20, now() from etl.walks`,
    [sequence, at === 0 ? null : { page_token: String(at) }, { page_token: String(at + 1) }],
  );

test.each<[string, (pool: Pool) => Promise<unknown>, object]>([
  [
    'goes on where it stopped has lost nothing and stored nothing twice',
    (pool) => commitPage(pool, 3, 3),
    { resumed_at_page: 4, pages_lost: 0, pages_stored_twice: 0 },
  ],
  ['does not go on says so', async () => undefined, { resumed_at_page: null }],
  [
    'leaves a page out lost one',
    (pool) => commitPage(pool, 4, 4),
    { resumed_at_page: 5, pages_lost: 1 },
  ],
  [
    'continues at another cursor than its last one lost a page',
    (pool) => commitPage(pool, 3, 7),
    { pages_lost: 1 },
  ],
  [
    'lacks a page that was committed before lost one',
    (pool) => pool.query('delete from etl.pages where sequence = 2'),
    { pages_lost: 1 },
  ],
  [
    'reads a page again has it twice',
    async (pool) => {
      // The ledger refuses it: this is what it would look like.
      await pool.query('drop index etl.pages_walk_cursor');
      await commitPage(pool, 3, 2);
    },
    { pages_stored_twice: 1 },
  ],
  [
    'was given up has read all twice',
    (pool) => pool.query(`update etl.walks set state = 'abandoned', finished_at = now()`),
    { pages_stored_twice: 3 },
  ],
])('a walk of three pages that %s', async (_, happen, seen) => {
  const { pool, db } = await freshDatabase();
  await pool.query(`
    insert into explorer.chains (chain_id, name) values (10, 'optimism') on conflict do nothing;
    insert into etl.feeds (chain_id, operation, kind, unit, settings)
    values (10, 'user-operations', 'newest-first', 'blocks', '{}');
    insert into etl.runs (chain_id, operation, lane, scope)
    values (10, 'user-operations', 'live', '{}');
    insert into etl.walks (chain_id, operation, lane, run_id, kind, scope, pages)
    select 10, 'user-operations', 'live', id, 'newest-first', '{}', 3 from etl.runs`);
  for (const sequence of [0, 1, 2]) await commitPage(pool, sequence, sequence);
  const before = await openWalks(db);
  expect(before).toMatchObject([{ pages: 3 }]);

  await happen(pool);

  expect(await readResumption(db, before)).toMatchObject({
    feed: '10/user-operations',
    killed_at_page: 3,
    ...seen,
  });
});
