import { sql } from 'drizzle-orm';
import type { Database } from '../../db/transaction.ts';
import { numberOf } from '../estimates.ts';
import { ofFeed } from '../feed.ts';
import type { RunOf } from '../list.ts';
import { aboutPages, type RunLeft } from '../run-left.ts';
import type { RankedScope } from './plan.ts';

/** What a ranking has left: as many pages as the last whole walk took; null before there was one. */
export async function rankingLeft(db: Database, run: RunOf<RankedScope>): Promise<RunLeft | null> {
  const { rows } = await db.execute<{ whole: string | null; read: string | null }>(sql`
    select (
             select pages from etl.walks
             where ${ofFeed(run)} and state = 'finished' and reason is null
             order by started_at desc
             limit 1
           ) as whole,
           (select sum(pages) from etl.walks where run_id = ${run.id} and state = 'running') as read
  `);
  const total = run.scope.max_pages ?? numberOf(rows[0]?.whole);
  return total === null ? null : aboutPages(total - (numberOf(rows[0]?.read) ?? 0));
}
