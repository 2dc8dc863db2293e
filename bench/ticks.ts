import { drizzle } from 'drizzle-orm/node-postgres';
import type { Pool } from 'pg';
import { countTotalsAgain } from '../src/report/totals.ts';

/** Ticks that brought nothing, as a year leaves them of each list that is polled, and an open run of each lane. */
export async function addTicks(pool: Pool, walks: number): Promise<void> {
  await pool.query('alter table etl.walks disable trigger user');
  await pool.query(
    `with feed as (
       select *, row_number() over (order by feed) as place, count(*) over () as number
       from etl.feeds
       where kind <> 'ranked'
     ), tick as (
       insert into etl.runs (chain_id, operation, lane, scope, state, opened_at, closed_at)
       select chain_id, operation, 'live', '{}', 'finished', at, at
       from feed, generate_series(1, $1::int / number) as n,
            lateral (select now() - n * interval '1 minute' as at) as moment
       returning id, chain_id, operation, opened_at as at
     )
     insert into etl.walks (chain_id, operation, lane, run_id, kind, scope, state, reason, pages, items,
                            credits, top, bottom, started_at, updated_at, finished_at)
     select tick.chain_id, tick.operation, 'live', tick.id, kind, '{}', 'finished', 'floor', 1, 50, 20, top, top - 50, at, at, at
     from tick join etl.feeds using (chain_id, operation)
     left join (select feed, max(top) as top from etl.walks group by feed) as newest using (feed)`,
    [walks],
  );
  await pool.query('alter table etl.walks enable trigger user');
  await countTotalsAgain(drizzle(pool));
  await pool.query(
    `with opened as (
       insert into etl.runs (chain_id, operation, lane, scope)
       select chain_id, operation, lane, scope
       from etl.newest_runs
       returning id, chain_id, operation, lane
     )
     insert into etl.walks (chain_id, operation, lane, run_id, kind, scope, pages, items, inserted, credits)
     select chain_id, operation, lane, id, kind, '{}', 1, 50, 50, 20
     from opened join etl.feeds using (chain_id, operation)`,
  );
  await pool.query('vacuum analyze');
}
