import type { Pool } from 'pg';

/**
 * What Postgres calls types, such as `bigint` or `timestamp with time zone`, by oid. An answer tells oids only,
 * and the connection that reads it is busy, so another one is asked.
 */
export async function readTypeNames(
  pool: Pick<Pool, 'query'>,
  types: readonly number[],
): Promise<ReadonlyMap<number, string>> {
  const { rows } = await pool.query<{ type: string; name: string }>(
    `select type::text, format_type(type, null) as name from unnest($1::oid[]) as type`,
    [[...new Set(types)]],
  );
  return new Map(rows.map(({ type, name }) => [Number(type), name]));
}
