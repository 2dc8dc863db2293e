import { sql } from 'drizzle-orm';
import type { Transaction } from '../db/transaction.ts';
import type { Drift, DriftReport } from './drift.ts';

/** A way to differ from the specification that the feed had not shown before. */
export interface NewDrift extends Omit<Drift, 'count'> {
  readonly page_id: number;
}

/** Different entries of one feed; a service that invents names without end must not fill the disk. */
const mostEntries = 1_000;

interface CountedFeed {
  readonly chain_id: number;
  readonly operation: string;
  readonly feed: string;
}

/**
 * Counts how a transaction's pages differ from the specification and from earlier pages, and
 * returns what is new. A field has vanished if it was on every item of a page once (`alwaysPresent`) and
 * is on none of these. Runs after all other writes: it locks only a feed's own entries.
 */
export async function recordDrift(
  tx: Transaction,
  feed: CountedFeed,
  pages: readonly { readonly page_id: number; readonly driftReport: DriftReport }[],
  alwaysPresent: ReadonlySet<string>,
): Promise<readonly NewDrift[]> {
  const known = new Set(alwaysPresent);
  const entries: (NewDrift & { occurrences: number })[] = [];
  const newlyPresent: { path: string; page_id: number }[] = [];
  for (const { page_id, driftReport } of pages) {
    for (const { count, ...drift } of driftReport.drift) {
      entries.push({ ...drift, page_id, occurrences: count });
    }
    for (const path of driftReport.nowhere.filter((field) => known.has(field))) {
      entries.push({ kind: 'vanished', path, detail: '', page_id, occurrences: 1 });
    }
    for (const path of driftReport.everywhere.filter((field) => !known.has(field))) {
      known.add(path);
      newlyPresent.push({ path, page_id });
    }
  }
  if (newlyPresent.length > 0) await keepAlwaysPresent(tx, feed, newlyPresent);
  return entries.length === 0 ? [] : countDrift(tx, feed, entries);
}

async function keepAlwaysPresent(
  tx: Transaction,
  { chain_id, operation }: CountedFeed,
  fields: readonly { readonly path: string; readonly page_id: number }[],
): Promise<void> {
  await tx.execute(sql`
    insert into etl.always_present_fields (chain_id, operation, path, page_id)
    select ${chain_id}::bigint, ${operation}, path, page_id
    from json_to_recordset(${JSON.stringify(fields)}::json) as field(path text, page_id bigint)
    order by path
    on conflict do nothing
  `);
}

async function countDrift(
  tx: Transaction,
  { chain_id, operation, feed }: CountedFeed,
  entries: readonly NewDrift[],
): Promise<readonly NewDrift[]> {
  const { rows } = await tx.execute<NewDrift & Record<string, unknown>>(sql`
    with reported as (
      select kind, path, detail, sum(occurrences) as occurrences, min(page_id) as page_id
      from json_to_recordset(${JSON.stringify(entries)}::json)
        as entry(kind text, path text, detail text, occurrences bigint, page_id bigint)
      group by kind, path, detail
    ), known as (
      select kind, path, detail from reported
      join etl.drift as stored using (kind, path, detail)
      where stored.feed = ${feed}
    ), placed as (
      select reported.*, known.kind is not null as is_known,
             row_number() over (partition by known.kind is null order by path, detail) as place
      from reported left join known using (kind, path, detail)
    ), counted as (
      insert into etl.drift as t (
        chain_id, operation, path, kind, detail, occurrences, first_page_id
      )
      select ${chain_id}::bigint, ${operation}, path, kind, detail, occurrences, page_id
      from placed
      where is_known or place <= ${mostEntries} - (
        select count(*) from etl.drift as stored
        where stored.feed = ${feed}
      )
      order by path, kind, detail
      on conflict (feed, path, kind, detail) do update
      set occurrences = t.occurrences + excluded.occurrences
      returning kind, path, detail, first_page_id, xmax = 0 as is_new
    )
    select kind, path, detail, first_page_id::float8 as page_id from counted where is_new
  `);
  return rows;
}
