import { beforeEach, expect, test } from 'vitest';
import { readRuns, readThroughput } from '../../../src/status/ledger.ts';
import { freshDatabase, sharedDatabase } from '../../harness/database.ts';
import { call } from '../../harness/process.ts';

const feed = '10/user-operations';
const database = sharedDatabase();
beforeEach(async () => {
  await database.query(`
    truncate etl.pages, etl.walks, etl.runs, etl.coverage, etl.feeds, etl.events,
      explorer.user_operations restart identity cascade;
    insert into etl.feeds (chain_id, operation, kind, settings)
    select chain, 'user-operations', 'newest-first', '{}' from unnest(array[10, 11]) as chain
  `);
});

/** A finished run of a lane with a page for each of these minutes, the oldest first. */
async function insertRun(
  chain: number,
  lane: string,
  minutesAgo: readonly number[],
): Promise<void> {
  await database.query(
    `with run as (
       insert into etl.runs (chain_id, operation, lane, scope, state, opened_at, closed_at)
       select $1, 'user-operations', $2, '{}', 'finished', now() - make_interval(mins => max(ago)),
              now() - make_interval(mins => min(ago))
       from unnest($3::int[]) as ago
       returning *
     ), walk as (
       insert into etl.walks (chain_id, operation, lane, run_id, kind, scope, state, top, bottom, pages,
         inserted, changed, started_at, finished_at)
       select chain_id, operation, lane, id, 'newest-first', '{}', 'finished', 100, 1, cardinality($3::int[]),
              2 * cardinality($3::int[]), 0, opened_at, closed_at
       from run
       returning *
     )
     insert into etl.pages (walk_id, feed, sequence, cursor_in, items, rows, repeats, quarantined, inserted,
       changed, top, bytes, body_hash, attempts, latency_ms, credits, fetched_at)
     select walk.id, walk.feed, place, case when place > 1 then jsonb_build_object('at', place) end, 3, 3, 0, 0,
            2, 1, 100, 1, '', 1, 1, 20, now() - make_interval(mins => ago)
     from walk, unnest($3::int[]) with ordinality as page(ago, place)
     order by place`,
    [chain, lane, minutesAgo],
  );
}

const worked = async (hours: number, of: string | null = null) => {
  const { bins, ...window } = await readThroughput(database.db, { hours, feed: of });
  return { ...window, bins: bins.filter(({ pages }) => pages > 0), all: bins.length };
};

test('an empty ledger has all of its bins, and nothing in them', async () => {
  expect(await worked(24)).toMatchObject({ bin_s: 900, bins: [], all: 96 });
  expect(await readRuns(database.db, { hours: 24, feed: null })).toMatchObject({
    runs: [],
    events: [],
  });
});

test('pages are counted in the bin of their time, of one feed or of all', async () => {
  await insertRun(10, 'backfill', [300, 30, 30]);
  await insertRun(11, 'backfill', [30]);
  const { bins } = await worked(1);
  expect(bins).toEqual([
    { at: expect.stringMatching(/:00\+00:00$/u), pages: 3, rows: 9, credits: 60, lag_s: null },
  ]);
  expect((await worked(1, feed)).bins.map(({ pages }) => pages)).toEqual([2]);
  expect((await worked(6, feed)).bins.map(({ pages }) => pages)).toEqual([1, 2]);
});

// A day of which all but minutes are empty.
test('the windows of a copy that is eight minutes old are no longer than its life', async () => {
  await insertRun(10, 'live', [8, 3]);
  const { bin_s, bins, all } = await worked(24);
  expect([bin_s, bins.length]).toEqual([60, 2]);
  expect(all).toBeLessThanOrEqual(10);
  const { from, to } = await readRuns(database.db, { hours: 24, feed: null });
  expect(Date.parse(to) - Date.parse(from)).toBeLessThan(9 * 60_000);
  await insertRun(11, 'live', [3]);
  await database.query(`update etl.runs set opened_at = now() - interval '3 days' where id = 1`);
  const old = await readRuns(database.db, { hours: 24, feed: null });
  expect(Date.parse(old.to) - Date.parse(old.from)).toBe(86_400_000);
});

test('the first page of the window is found in a ledger with gaps in its numbers', async () => {
  await insertRun(
    10,
    'backfill',
    Array.from({ length: 500 }, (_, at) => 3_000 - 5 * at),
  );
  await database.query('delete from etl.pages where id % 3 = 0');
  const rows = await database.query(
    `select count(*) as pages from etl.pages where fetched_at >= now() - interval '23 hours 45 minutes'`,
  );
  const counted = (await worked(24)).bins.reduce((sum, { pages }) => sum + pages, 0);
  expect(counted - Number(rows[0]?.pages)).toBeGreaterThanOrEqual(0);
  expect(counted - Number(rows[0]?.pages)).toBeLessThanOrEqual(3);
});

test('the lag is the age of the newest item when the head was polled', async () => {
  await insertRun(10, 'live', [20]);
  await database.query(`
    insert into explorer.user_operations (chain_id, hash, block_number, timestamp, page_id)
    values (10, '0x1', 100, now() - interval '21 minutes', 1), (10, '0x2', 101, now(), 1)`);
  const { bins } = await worked(1, feed);
  expect(bins.map(({ lag_s }) => Math.round(lag_s ?? 0))).toEqual([60]);
});

test('runs that ended in the window and those that are open, the newest first, with what happened beside', async () => {
  await insertRun(10, 'live', [3_000]);
  await insertRun(10, 'backfill', [3_000, 60]);
  await insertRun(11, 'live', [5]);
  await database.query(`
    insert into etl.runs (chain_id, operation, lane, scope, opened_at) values (10, 'user-operations', 'live', '{}', now() - interval '3 days');
    insert into etl.events (at, kind, feed, sentence)
    values (now() - interval '2 days', 'stopped', null, 'old'), (now(), 'killed', '11/user-operations', 'lost'),
           (now() - interval '1 minute', 'stopped', null, 'a start')`);
  const read = async (of: string | null) => {
    const { runs, events } = await readRuns(database.db, { hours: 24, feed: of });
    return [
      runs.map(({ id, state, pages, rows }) => [id, state, pages, rows]),
      events.map(({ kind }) => kind),
    ];
  };
  const [open, backfill, live] = [
    [4, 'open', 0, 0],
    [2, 'finished', 2, 4],
    [3, 'finished', 1, 2],
  ];
  expect(await read(null)).toEqual([
    [open, live, backfill],
    ['killed', 'stopped'],
  ]);
  expect(await read(feed)).toEqual([[open, backfill], ['stopped']]);
});

test('a database without tables has no runs, and status --runs says so', async () => {
  const { url } = await freshDatabase('empty');
  const { code, stdout } = await call(['status', '--runs', '--database-url', url], {});
  expect({ code, stdout }).toEqual({ code: 0, stdout: 'No run in the last 24 hours.\n' });
});
