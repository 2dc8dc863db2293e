import { sql } from 'drizzle-orm';
import type { Database } from '../../db/transaction.ts';
import type { Change, FoundRow } from '../../page/why/facts.ts';

/** Changes that are told of a row, the newest: a block may be replaced again and again. */
const mostChanges = 5;

/** What else is noted of a row: that it came late, and which hashes its block had before. */
export async function changesOf(
  db: Database,
  row: Pick<FoundRow, 'table' | 'key' | 'chain_id'>,
  feed: string | null,
): Promise<Change[]> {
  const [key] = Object.entries(row.key).flatMap(([name, value]) =>
    name === 'chain_id' ? [] : [String(value)],
  );
  if (key === undefined) return [];
  const late = feed === null ? [] : await lateArrivals(db, feed, key);
  return row.table === 'explorer.blocks'
    ? [...late, ...(await replacements(db, row.chain_id, key))]
    : late;
}

async function lateArrivals(db: Database, feed: string, key: string): Promise<Change[]> {
  const { rows } = await db.execute<{ change: Change }>(sql`
    select json_build_object(
      'is', 'late', 'seen_at', seen_at, 'page_id', page_id,
      'late_s', greatest(0, extract(epoch from seen_at - timestamp))
    ) as change
    from etl.late_arrivals
    where feed = ${feed} and key = ${key}
    order by page_id
    limit ${mostChanges}
  `);
  return rows.map(({ change }) => change);
}

async function replacements(db: Database, chain: number, height: string): Promise<Change[]> {
  const { rows } = await db.execute<{ change: Change }>(sql`
    select json_build_object(
      'is', 'replaced', 'old_hash', old_hash, 'new_hash', new_hash, 'observed_at', observed_at,
      'page_id', page_id
    ) as change
    from explorer.block_reorgs
    where chain_id = ${chain}::bigint and height = ${height}::bigint
    order by observed_at desc
    limit ${mostChanges}
  `);
  return rows.map(({ change }) => change);
}
