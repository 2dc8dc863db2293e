import { expect, test } from 'vitest';
import { recountCoverage } from '../../../src/status/verify.ts';
import { ledgerFaults } from '../../harness/ledger.ts';
import { listWorld } from './world.ts';

/** More than are looked at in one transaction. */
const copies = 1_300;

/** A list whose newest poll was made again and again, as a year of a quiet chain leaves it. */
async function quietYear() {
  const world = await listWorld(50);
  const { query, sync, age } = world;
  await sync(2);
  await query(`
    with poll as materialized (
      select * from etl.walks order by id desc limit 1
    ), n as materialized (
      select n, nextval('etl.walks_id_seq') as walk, nextval('etl.runs_id_seq') as run,
             nextval('etl.pages_id_seq') as page
      from generate_series(1, ${copies}) as n
    ), runs as (
      insert into etl.runs (id, chain_id, operation, lane, scope, state, opened_at, closed_at)
      select n.run, runs.chain_id, runs.operation, runs.lane, runs.scope, runs.state,
             opened_at + n * interval '1 second', closed_at + n * interval '1 second'
      from n, poll join etl.runs on runs.id = poll.run_id
    ), walks as (
      insert into etl.walks (id, chain_id, operation, lane, run_id, kind, scope, state, reason, cursor,
        floor, depth_ms, verified, top, bottom, pages, items, credits, started_at, as_of, updated_at, finished_at)
      select n.walk, chain_id, operation, lane, n.run, kind, scope, state, reason, cursor, floor, depth_ms,
             verified, top, bottom, 1, items / pages, 20, started_at + n * interval '1 second', as_of,
             updated_at, finished_at + n * interval '1 second'
      from n, poll
    )
    insert into etl.pages (id, walk_id, feed, sequence, cursor_in, cursor_out, items, rows, repeats,
      quarantined, inserted, changed, top, bottom, last_key, bytes, body_hash, attempts, latency_ms, credits, fetched_at)
    select n.page, n.walk, pages.feed, 0, null, poll.cursor, poll.items / poll.pages, poll.items / poll.pages, 0, 0, 0, 0,
           pages.top, pages.bottom, last_key, bytes, body_hash, 1, latency_ms, 20, fetched_at
    from n, poll join etl.pages on walk_id = poll.id and sequence = 0
  `);
  await recountCoverage(world.database.db);
  await age(100);
  return world;
}

test('a prune that fails midway has deleted whole batches, and two concurrent ones delete the others', async () => {
  const { database, query, prune, reported, walks } = await quietYear();
  const before = await reported();
  const runs = async () => Number((await query('select count(*) from etl.runs'))[0]?.['count']);
  const runsBefore = await runs();
  const [last] = (await query('select id from etl.walks order by id offset 1200 limit 1')) as {
    id: string;
  }[];
  await query(`
    create function etl.refuse() returns trigger language plpgsql as
      $$ begin raise 'cut'; end $$;
    create trigger refuse before delete on etl.walks
    for each row when (old.id = ${last?.id}) execute function etl.refuse()
  `);

  await expect(prune()).rejects.toThrow(/^Failed query/u);

  const { walks: left } = await walks();
  expect(left).toBeGreaterThan(300);
  expect(left).toBeLessThan(copies - 500);
  expect(await reported()).toEqual(before);
  await query('drop trigger refuse on etl.walks');
  await Promise.all([prune(), prune()]);
  await prune();
  expect(await walks()).toEqual({ walks: 2 });
  expect(await runs()).toBe(runsBefore - copies);
  expect(await reported()).toEqual(before);
  expect(await ledgerFaults(database.pool, 'ended')).toEqual({});
});

test('a prune that is stopped ends after a batch', async () => {
  const { prune, reported, walks } = await quietYear();
  const before = await reported();
  const stop = new AbortController();
  const { walks: all } = await walks();

  const pruning = prune(30, stop.signal);
  stop.abort();

  expect((await pruning).walks).toBeLessThanOrEqual(500);
  expect((await walks()).walks).toBeGreaterThanOrEqual(all - 500);
  expect(await reported()).toEqual(before);
});
