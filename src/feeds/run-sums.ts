import { sql } from 'drizzle-orm';
import type { Database } from '../db/transaction.ts';

/** What the walks of a run total, whichever processes worked on them. */
export interface RunSums {
  readonly rows_added: number;
  /** Items in quarantine that its pages served last; one that was there already, and was served as it is, counts. */
  readonly quarantined: number;
  /** Ways in which its pages differ from the specification that no page had shown before. */
  readonly drift: number;
}

const nothing: RunSums = { rows_added: 0, quarantined: 0, drift: 0 };

/** The sums of runs. It reads all walks of each run, so it is for the beginning and the end of a work. */
export async function runSums(
  db: Pick<Database, 'execute'>,
  ids: readonly number[],
): Promise<ReadonlyMap<number, RunSums>> {
  const { rows } = await db.execute<{ id: string; rows_added: string }>(sql`
    select run_id as id, sum(inserted) as rows_added
    from etl.walks
    where run_id = any(${sql.param(ids)}::bigint[])
    group by run_id
  `);
  const noted = await notedBy(db, ids);
  const added = new Map(rows.map((row) => [Number(row.id), Number(row.rows_added)]));
  return new Map(
    ids.map((id) => {
      const rows_added = added.get(id) ?? 0;
      return [id, { ...nothing, rows_added, ...noted.get(id) }] as const;
    }),
  );
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
    rows_added: sums.rows_added - before.rows_added,
    quarantined: Math.max(0, sums.quarantined - before.quarantined),
    drift: Math.max(0, sums.drift - before.drift),
  };
}
