import { sql } from 'drizzle-orm';
import type { Database } from '../../db/transaction.ts';
import type { Origin } from '../../page/why/facts.ts';

/** The pages by their numbers, with the walks and runs that they belong to. */
export async function originsOf(
  db: Database,
  pages: readonly number[],
): Promise<ReadonlyMap<number, Origin>> {
  const { rows } = await db.execute<{ origin: Origin }>(sql`
    select json_build_object(
      'page_id', pages.id, 'sequence', pages.sequence, 'cursor_in', pages.cursor_in::text,
      'fetched_at', pages.fetched_at, 'latency_ms', pages.latency_ms, 'credits', pages.credits,
      'attempts', pages.attempts, 'items', pages.items, 'inserted', pages.inserted,
      'changed', pages.changed, 'quarantined', pages.quarantined, 'body_hash', pages.body_hash,
      'walk_id', walks.id, 'feed', walks.feed, 'lane', walks.lane, 'kind', walks.kind,
      'scope', walks.scope::text, 'state', walks.state, 'reason', walks.reason,
      'started_at', walks.started_at, 'finished_at', walks.finished_at,
      'run_id', walks.run_id, 'run_state', runs.state
    ) as origin
    from etl.pages
    join etl.walks on walks.id = pages.walk_id
    left join etl.runs on runs.id = walks.run_id
    where pages.id = any(${sql.param(pages)}::bigint[])
  `);
  return new Map(rows.map(({ origin }) => [origin.page_id, origin]));
}
