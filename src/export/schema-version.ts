import type { Pool } from 'pg';
import { collect } from './collect.ts';

/** The newest migration of the database, as a time in ms; null where this role may not look. */
export async function readSchemaVersion(pool: Pool, signal: AbortSignal): Promise<string | null> {
  const [allowed] = await collect(pool, { text: mayLook, values: [] }, signal);
  if (allowed === undefined) return null;
  const newest = 'select max(created_at)::text from etl.migrations';
  const [row] = await collect(pool, { text: newest, values: [] }, signal);
  return row?.[0] ?? null;
}

const mayLook = `
  select from pg_class as migrations
  join pg_namespace as etl on etl.oid = relnamespace
  where nspname = 'etl' and relname = 'migrations'
    and has_schema_privilege(etl.oid, 'usage') and has_table_privilege(migrations.oid, 'select')`;
