import { expect, test } from 'vitest';
import { readFeeds } from '../../../src/status/facts.ts';
import { expireArchive, unpackBody } from '../../../src/sync/archive.ts';
import { digest } from '../../../src/sync/page.ts';
import { plainChain } from '../../harness/sync.ts';
import { archivedCopy } from './archive.ts';

const chain = { ...plainChain, userOperations: 200, factories: 120 };
const never = new AbortController().signal;
const dayMs = 86_400_000;

async function world() {
  const { database, syncAt } = await archivedCopy(chain);
  await syncAt(0);
  const { db } = database;
  const stored = async () => {
    const rows = await database.query(`
      select count(*)::int as pages, coalesce(sum(octet_length(body)), 0)::int as bytes
      from etl.raw_pages`);
    return rows[0];
  };
  const reported = async () =>
    (await readFeeds(db)).reduce((sum, { shown }) => sum + shown.archived_bytes, 0);
  return { database, db, stored, reported };
}

test('a body is kept as it was served, compressed below a third of its size, until it expires', async () => {
  const { database, db, stored, reported } = await world();
  const rows = await database.query(
    `select body, body_hash as hash from etl.raw_pages join etl.pages on id = page_id`,
  );
  const bodies = rows.map(({ body }) => unpackBody(body));
  expect(bodies.map(digest)).toEqual(rows.map(({ hash }) => hash));
  const archive = await stored();
  expect(archive?.pages).toBe(7);
  expect(archive?.bytes).toBeLessThan(Buffer.concat(bodies).length / 3);
  expect(await reported()).toBe(archive?.bytes);

  await database.query(`
    update etl.raw_pages set stored_at = now() - interval '3 days'
    where page_id in (select id from etl.pages order by id limit 4)`);
  expect(await expireArchive(db, 2, new Date(), never)).toBe(4);
  const left = await stored();
  expect(left?.pages).toBe(3);
  expect(await reported()).toBe(left?.bytes);
});

test('all expired bodies are deleted, in batches, and none if no age is configured', async () => {
  const { database, db, stored } = await world();
  await database.query(`
    insert into etl.pages (id, walk_id, feed, sequence, cursor_in, items, rows, repeats, quarantined,
      inserted, changed, bytes, body_hash, attempts, latency_ms, credits, fetched_at)
    select 1000 + n, min(id), min(feed), 1000 + n, jsonb_build_object('page_token', n), 0, 0, 0, 0, 0, 0, 0, '', 1, 1, 20, now()
    from etl.walks, generate_series(1, 1500) as n group by n;
    insert into etl.raw_pages (page_id, body)
    select 1000 + n, '' from generate_series(1, 1500) as n;
    update etl.raw_pages set stored_at = stored_at - interval '9 days'
  `);
  expect(await expireArchive(db, null, new Date(), never)).toBe(0);
  expect(await expireArchive(db, 2, new Date(), never)).toBe(1507);
  expect((await stored())?.pages).toBe(0);
});

test('a clock that runs ahead, the database’s or the program’s, deletes nothing', async () => {
  const { database, db } = await world();
  const ahead = new Date(Date.now() + 9 * dayMs);
  expect(await expireArchive(db, 2, ahead, never)).toBe(0);
  await database.query(`update etl.raw_pages set stored_at = stored_at - interval '9 days'`);
  const behind = new Date(Date.now() - 9 * dayMs);
  expect(await expireArchive(db, 2, behind, never)).toBe(0);
});
