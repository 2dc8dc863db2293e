import { drizzle } from 'drizzle-orm/node-postgres';
import type { Pool } from 'pg';
import { expect, test } from 'vitest';
import { openWalks, readResumption } from '../../../src/cli/demo-world.ts';
import { freshDatabase } from '../../harness/database.ts';
import { call } from '../../harness/call.ts';

const feeds = ['10/user-operations'];

/** A walk of three committed pages that goes on at the cursor of the fourth. */
async function walkUnderWay(): Promise<Pool> {
  const { pool, url } = await freshDatabase();
  await call(['migrate'], { env: { DATABASE_URL: url } });
  await pool.query(`
    insert into explorer.chains (chain_id, name) values (10, 'optimism') on conflict do nothing;
    insert into etl.feeds (chain_id, operation, kind, unit, settings)
    values (10, 'user-operations', 'newest-first', 'blocks', '{}');
    insert into etl.runs (chain_id, operation, lane, scope)
    values (10, 'user-operations', 'live', '{}');
    insert into etl.walks (chain_id, operation, lane, run_id, kind, scope, pages)
    select 10, 'user-operations', 'live', id, 'newest-first', '{}', 3 from etl.runs`);
  for (const sequence of [0, 1, 2]) await commitPage(pool, sequence, sequence);
  return pool;
}

/** Commits a page that was requested with one cursor and leads to the next. */
const commitPage = (pool: Pool, sequence: number, at: number) =>
  pool.query(
    `insert into etl.pages (walk_id, feed, sequence, cursor_in, cursor_out, items, rows, repeats,
       quarantined, inserted, changed, bytes, body_hash, attempts, latency_ms, credits, fetched_at)
     select id, feed, $1, $2, $3, 0, 0, 0, 0, 0, 0, 0, '', 1, 1, 20, now() from etl.walks`,
    [sequence, at === 0 ? null : { page_token: String(at) }, { page_token: String(at + 1) }],
  );

test('a walk that goes on where it stopped has lost nothing and stored nothing twice', async () => {
  const pool = await walkUnderWay();
  const before = await openWalks(drizzle(pool), feeds);
  await commitPage(pool, 3, 3);

  expect(before).toMatchObject([{ feed: '10/user-operations', pages: 3 }]);
  expect(await readResumption(drizzle(pool), before)).toEqual([
    { feed: '10/user-operations', stopped_at: 3, resumed_at: 4, lost: 0, twice: 0 },
  ]);
});

test('the walks of other feeds are not counted', async () => {
  const pool = await walkUnderWay();
  expect(await openWalks(drizzle(pool), ['10/factories'])).toEqual([]);
});

test('a walk that does not go on says so', async () => {
  const pool = await walkUnderWay();
  const before = await openWalks(drizzle(pool), feeds);

  const walks = await readResumption(drizzle(pool), before);

  expect(walks).toMatchObject([{ feed: '10/user-operations', stopped_at: 3, resumed_at: null }]);
});

test('a page that is left out is lost', async () => {
  const pool = await walkUnderWay();
  const before = await openWalks(drizzle(pool), feeds);
  await commitPage(pool, 4, 4);

  expect(await readResumption(drizzle(pool), before)).toMatchObject([
    { stopped_at: 3, resumed_at: 5, lost: 1 },
  ]);
});

test('a page that does not begin where the one before it ended is lost', async () => {
  const pool = await walkUnderWay();
  const before = await openWalks(drizzle(pool), feeds);
  await commitPage(pool, 3, 7);

  expect(await readResumption(drizzle(pool), before)).toMatchObject([{ lost: 1 }]);
});

test('a page that was committed before and is gone is lost', async () => {
  const pool = await walkUnderWay();
  const before = await openWalks(drizzle(pool), feeds);
  await pool.query('delete from etl.pages where sequence = 2');

  expect(await readResumption(drizzle(pool), before)).toMatchObject([{ lost: 1 }]);
});

test('a page that is read again is there twice', async () => {
  const pool = await walkUnderWay();
  const before = await openWalks(drizzle(pool), feeds);
  // The ledger refuses it: this is what it would look like.
  await pool.query('drop index etl.pages_walk_cursor');
  await commitPage(pool, 3, 2);

  expect(await readResumption(drizzle(pool), before)).toMatchObject([{ twice: 1 }]);
});

test('what a walk read that was given up counts as read twice', async () => {
  const pool = await walkUnderWay();
  const before = await openWalks(drizzle(pool), feeds);
  await pool.query(`update etl.walks set state = 'abandoned', finished_at = now()`);

  expect(await readResumption(drizzle(pool), before)).toMatchObject([{ twice: 3 }]);
});
