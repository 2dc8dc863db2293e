import { sql } from 'drizzle-orm';
import { tableName } from '../db/column-types.ts';
import { execute, type Database, transact, type Transaction } from '../db/transaction.ts';
import { addressTables } from '../load/tables.ts';
import { type OperationName, operations, operationNames } from './registry.ts';
import { z } from 'zod';

/** Walks that are looked at in one transaction: it takes some 100 ms, however many there are. */
const judgedAtOnce = 500;

const prunedShape = () => z.object({ walks: z.number(), pages: z.number(), runs: z.number() });
type Pruned = z.infer<ReturnType<typeof prunedShape>>;

/** Deletes walks that ended `days` before `at`, brought nothing and are no row's origin. Coverage keeps what they verified. */
export async function pruneLedger(
  db: Database,
  days: number | null,
  at: Date,
  signal: AbortSignal,
): Promise<Readonly<Pruned>> {
  const total: Pruned = { walks: 0, pages: 0, runs: 0 };
  if (days === null) return total;
  const feeds = await execute(db).rows(() =>
    z.object({ feed: z.string(), operation: z.enum(operationNames) }),
  )`
    select feed, operation from etl.feeds order by feed
  `;
  for (const feed of feeds) {
    for (let after: number | null = 0; after !== null && !signal.aborted;) {
      const batch: Batch = { ...feed, days, at, after };
      const { pruned, last } = await transact(db, (tx) => pruneBatch(tx, batch));
      for (const what of ['walks', 'pages', 'runs'] as const) total[what] += pruned[what];
      after = last;
    }
  }
  return total;
}

interface Batch {
  readonly feed: string;
  readonly operation: OperationName;
  readonly days: number;
  readonly at: Date;
  readonly after: number;
}

/** As SQL: the moment before which walks are old by this machine's and the database's clock. */
const oldest = ({ days, at }: Batch) =>
  sql`least(${at.toISOString()}::timestamptz, now()) - make_interval(days => ${days})`;

async function pruneBatch(tx: Transaction, batch: Batch) {
  const ids = await lockIdle(tx, batch);
  const prunable = ids.length === 0 ? [] : await prunableWalks(tx, batch, ids);
  const pruned = await deleteWalks(tx, prunable);
  return { pruned, last: ids.length < judgedAtOnce ? null : Math.max(...ids) };
}

/** Locks the old walks that brought nothing, so that no retry from quarantine writes their rows. */
const lockIdle = (tx: Transaction, batch: Batch) =>
  execute(tx).values(z.number)`
    select id::float8 as id
    from etl.walks
    where feed = ${batch.feed}
      and id > ${batch.after}
      and state = 'finished'
      and inserted = 0
      and changed = 0
      and archived_bytes = 0
      and finished_at < ${oldest(batch)}
    order by id
    limit ${judgedAtOnce}
    for update skip locked
  `;

/** The walks that no conclusion rests on, and whose pages nothing refers to. */
async function prunableWalks(
  tx: Transaction,
  batch: Batch,
  ids: readonly number[],
): Promise<readonly number[]> {
  const { feed, at } = batch;
  const rows = await execute(tx).rows(() =>
    z.object({ id: z.number(), pages: z.array(z.number()) }),
  )`
    select id::float8 as id, pages
    from etl.prunable_walks(
      ${feed}, ${sql.param(ids)}::bigint[], ${at.toISOString()}::timestamptz, ${oldest(batch)}
    )
  `;
  const pages = rows.flatMap((walk) => walk.pages);
  const written = await pagesOfRows(tx, batch, pages);
  return rows.filter((walk) => !walk.pages.some((page) => written.has(page))).map(({ id }) => id);
}

/** Of some pages, those that rows came from. Each table by itself: one may be spread over servers. */
async function pagesOfRows(
  tx: Transaction,
  { operation }: Batch,
  pages: readonly number[],
): Promise<ReadonlySet<number>> {
  const found = new Set<number>();
  if (pages.length === 0) return found;
  for (const table of [...addressTables, ...operations[operation].tables]) {
    const kept = await execute(tx).values(z.number)`
      select distinct page_id::float8 as page_id
      from ${sql.raw(tableName(table))}
      where page_id between ${Math.min(...pages)} and ${Math.max(...pages)}
        and page_id = any(${sql.param(pages)}::bigint[])
    `;
    for (const page of kept) found.add(page);
  }
  return found;
}

/** Deletes walks with their pages, and runs that are left without any; the newest ones of a lane stay. */
const deleteWalks = (tx: Transaction, ids: readonly number[]) =>
  execute(tx).one(prunedShape)`
    with gone_pages as (
      delete from etl.pages where walk_id = any(${sql.param(ids)}::bigint[]) returning id
    ), gone as (
      delete from etl.walks where id = any(${sql.param(ids)}::bigint[]) returning *
    ), gone_runs as (
      delete from etl.runs as run
      where id in (select run_id from gone)
        and not exists (
          select from etl.walks
          where walks.run_id = run.id and walks.id <> all(${sql.param(ids)}::bigint[])
        )
        and exists (
          select from etl.runs as newer
          where newer.feed = run.feed and newer.lane = run.lane and newer.id > run.id
            and newer.state = 'finished'
        )
      returning id
    ), noted as (
      insert into etl.pruned as t (
        feed, lane, pages, credits, spanned_items, spanned_blocks, verified, as_of, newest_as_of
      )
      select feed, lane, sum(pages), sum(credits),
             coalesce(sum(items) filter (where cuts = 0 and top > bottom), 0),
             coalesce(sum(top - bottom) filter (where cuts = 0 and top > bottom), 0),
             range_agg(verified), min(as_of), max(as_of)
      from gone
      group by feed, lane
      on conflict (feed, lane) do update
      set pages = t.pages + excluded.pages,
          credits = t.credits + excluded.credits,
          spanned_items = t.spanned_items + excluded.spanned_items,
          spanned_blocks = t.spanned_blocks + excluded.spanned_blocks,
          verified = t.verified + excluded.verified,
          as_of = least(t.as_of, excluded.as_of),
          newest_as_of = greatest(t.newest_as_of, excluded.newest_as_of)
    )
    select count(*)::float8 as walks, coalesce(sum(pages), 0)::float8 as pages,
           (select count(*) from gone_runs)::float8 as runs
    from gone
  `;
