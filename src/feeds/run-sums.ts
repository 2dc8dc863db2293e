import { sql } from 'drizzle-orm';
import type { Database } from '../db/transaction.ts';

/** What the walks of a run have come to. */
export interface RunSums {
  readonly rows_added: number;
  /** Rows that were there, and are others now. */
  readonly rows_changed: number;
  readonly pages: number;
  readonly credits: number;
  /** Items in quarantine that its pages served last; one that was there already, and was served as it is, counts. */
  readonly quarantined: number;
  /** Ways in which its pages differ from the specification that no page had shown before. */
  readonly drift: number;
}

const nothing: RunSums = {
  rows_added: 0,
  rows_changed: 0,
  pages: 0,
  credits: 0,
  quarantined: 0,
  drift: 0,
};

/** The sums of runs. It reads all walks of each run, so it is for the beginning and the end of a work. */
export async function runSums(
  db: Pick<Database, 'execute'>,
  ids: readonly number[],
): Promise<ReadonlyMap<number, RunSums>> {
  const { rows } = await db.execute<{ id: string; sums: Omit<RunSums, 'quarantined' | 'drift'> }>(
    sql`
    select run_id as id, json_build_object(
      'rows_added', sum(inserted), 'rows_changed', sum(changed),
      'pages', sum(pages), 'credits', sum(credits)
    ) as sums
    from etl.walks
    where run_id = any(${sql.param(ids)}::bigint[])
    group by run_id
  `,
  );
  const noted = await notedBy(db, ids);
  const sums = new Map(rows.map((row) => [Number(row.id), row.sums]));
  return new Map(ids.map((id) => [id, { ...nothing, ...sums.get(id), ...noted.get(id) }] as const));
}

/** The pages that entries of a feed name are few: what differs, and what became no rows. */
async function notedBy(
  db: Pick<Database, 'execute'>,
  ids: readonly number[],
): Promise<ReadonlyMap<number, Pick<RunSums, 'quarantined' | 'drift'>>> {
  const { rows } = await db.execute<{ id: string; quarantined: number; drift: number }>(sql`
    with noted as (
      select coalesce(last_page_id, page_id) as page_id, 1 as quarantined, 0 as drift
      from etl.quarantine
      union all
      select first_page_id, 0, 1 from etl.drift
    )
    select run_id as id, sum(noted.quarantined)::int as quarantined, sum(drift)::int as drift
    from noted
    join etl.pages on pages.id = noted.page_id
    join etl.walks on walks.id = walk_id
    where run_id = any(${sql.param(ids)}::bigint[])
    group by run_id
  `);
  return new Map(
    rows.map(({ id, quarantined, drift }) => [Number(id), { quarantined, drift }] as const),
  );
}

/** What came to some sums since `before`; of what is noted, some may have been taken back meanwhile. */
export function sumsSince(sums: RunSums, before: RunSums = nothing): RunSums {
  return {
    ...sums,
    rows_added: sums.rows_added - before.rows_added,
    rows_changed: sums.rows_changed - before.rows_changed,
    pages: sums.pages - before.pages,
    credits: sums.credits - before.credits,
    quarantined: Math.max(0, sums.quarantined - before.quarantined),
    drift: Math.max(0, sums.drift - before.drift),
  };
}
