import { sql } from 'drizzle-orm';
import { publishChanges } from '../db/changes.ts';
import { execute, type Database, transact, type Transaction } from '../db/transaction.ts';
import { z } from 'zod';

/** Full recomputation, which corrects changes that leave no trace. */
const recomputeEvery = '1 day';
/** How long a transaction that sums up is to take, in ms: a stop waits as long. */
const turnMs = 100;
/** How many keys it takes at most, however quick the last ones were. */
const mostKeys = 5_000;

export interface RollUpOptions {
  readonly db: Database;
  /** Monotonic, in ms. */
  readonly now: () => number;
}

/**
 * Finds what was written since the last time, and sums up again its days, senders and batches;
 * returns the number of keys. Processes take turns with each other. After a kill, the rest is done
 * the next time.
 * @throws what Postgres threw of the first sum that failed; the others were summed up
 */
export async function rollUp(options: RollUpOptions, signal: AbortSignal): Promise<number> {
  await publishChanges(options.db, 'in silence');
  const names = await execute(options.db).values(z.string)`
    select name from etl.rollups order by name
  `;
  const failures: unknown[] = [];
  let keys = 0;
  for (const name of names) {
    try {
      keys += await sumAll(name, options, signal);
    } catch (error) {
      failures.push(error);
    }
  }
  const [failure] = failures;
  if (failure !== undefined) throw failure;
  return keys;
}

async function sumAll(
  name: string,
  { db, now }: RollUpOptions,
  signal: AbortSignal,
): Promise<number> {
  if (signal.aborted) return 0;
  await transact(db, (tx) => noteStale(tx, name));
  let all = 0;
  let most = 1;
  while (!signal.aborted) {
    const begun = now();
    const keys = await transact(db, (tx) => sumUp(tx, name, most));
    if (keys === 0) break;
    all += keys;
    // One key may be a year of a busy sender, or nothing.
    const inTime = Math.round((keys * turnMs) / Math.max(1, now() - begun));
    most = Math.min(Math.max(1, inTime), 2 * most, mostKeys);
  }
  return all;
}

/**
 * Recomputes everything the next time, because deleted rows leave no trace. The lock keeps sums, also the first ones,
 * from being taken until the rows are gone.
 */
export async function recomputeSums(tx: Pick<Transaction, 'execute'>): Promise<void> {
  await tx.execute(sql`update etl.rollups set begun_at = null`);
}

const named = (prefix: string, name: string) => sql.raw(`etl.${prefix}_${name}`);

async function noteStale(tx: Transaction, name: string): Promise<void> {
  const turn = await execute(tx).row(() =>
    z.object({ since: z.string().nullable(), before: z.string().nullable(), horizon: z.string() }),
  )`
    select case when begun_at > now() - ${recomputeEvery}::interval then read_to end::text as since,
           read_to::text as before, explorer.changes_until()::text as horizon
    from etl.rollups where name = ${name}
    for no key update skip locked
  `;
  // Another process is at it.
  if (turn === null) return;
  const { since, before, horizon } = turn;
  const keys =
    since === null
      ? sql`${named('all', name)}()`
      : sql`${named('stale', name)}(${since}::timestamptz)`;
  await tx.execute(sql`
    insert into etl.stale_sums (name, chain_id, key)
    select ${name}, chain_id, key from ${keys} where key is not null
    union
    select name, chain_id, key from etl.moved_rows where name = ${name}
    on conflict do nothing
  `);
  // Later ones may be of transactions that have not ended.
  await tx.execute(
    sql`delete from etl.moved_rows where starts_with(name, ${name}) and at < ${before}::timestamptz`,
  );
  await tx.execute(sql`
    update etl.rollups
    set read_to = ${horizon}::timestamptz,
        begun_at = case when ${since === null} then now() else begun_at end
    where name = ${name}
  `);
}

async function sumUp(tx: Transaction, name: string, most: number): Promise<number> {
  const keys = await execute(tx).value(z.number)`
    with turn as materialized (
      select name from etl.rollups where name = ${name} for no key update skip locked
    ), taken as (
      delete from etl.stale_sums
      where (name, chain_id, key) in (
        select name, chain_id, key from turn join etl.stale_sums using (name) limit ${most}
      )
      returning chain_id, key
    ), of_chain as materialized (
      select chain_id, array_agg(key) as keys from taken group by chain_id
    )
    select coalesce(sum(cardinality(keys)), 0)::int as keys
    from of_chain, ${named('sum', name)}(chain_id, keys)
  `;
  return keys ?? 0;
}
