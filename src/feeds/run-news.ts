import { sql } from 'drizzle-orm';
import type { Database } from '../db/transaction.ts';
import type { RunRow } from '../lists/tables.ts';
import { creditsPerPage } from '../walk/ledger.ts';

/** What a run brought and cost, whichever workers and slices it was made of. */
export interface RunNews {
  readonly added: number;
  readonly changed: number;
  readonly quarantined: number;
  readonly pages: number;
  readonly requests: number;
  readonly credits: number;
  /** From its opening to its end, or until now. */
  readonly seconds: number;
}

/** Adds up a run. Its walks are few. */
export async function runNews(db: Pick<Database, 'execute'>, { id }: RunRow): Promise<RunNews> {
  const { rows } = await db.execute<{ news: Omit<RunNews, 'requests'> }>(sql`
    with brought as (
      select coalesce(sum(inserted), 0) as added, coalesce(sum(changed), 0) as changed,
             coalesce(sum(quarantined), 0) as quarantined, coalesce(sum(pages), 0) as pages,
             coalesce(sum(credits), 0) as credits
      from etl.walks where run_id = ${id}
    )
    select json_build_object(
             'added', added, 'changed', changed, 'quarantined', quarantined, 'pages', pages,
             'credits', credits,
             'seconds', round(greatest(extract(epoch from coalesce(closed_at, now()) - opened_at), 0), 1)
           ) as news
    from brought, etl.runs
    where id = ${id}
  `);
  const [row] = rows;
  if (row === undefined) throw new Error(`run ${id} is gone`);
  return { ...row.news, requests: row.news.credits / creditsPerPage };
}
