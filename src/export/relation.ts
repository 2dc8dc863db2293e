import type { Pool } from 'pg';
import { collect } from './collect.ts';

/** How the rows of a relation lie in files: one for each chain and UTC day, one for each chain, or one. */
export type Layout = 'day' | 'chain' | 'whole';

/** A table or view of schema explorer. */
export interface Relation {
  readonly name: string;
  readonly kind: 'table' | 'view';
  readonly columns: readonly string[];
  /** Columns of the primary key; none of a view. */
  readonly key: readonly string[];
  readonly layout: Layout;
  /** Whether policies would hide rows from a superuser, whose rights are put off. */
  readonly isGuarded: boolean;
}

/**
 * The tables and views of schema explorer that this role may read, by name. Parts of a table that is
 * partitioned are in that table.
 */
export async function readRelations(pool: Pool, signal: AbortSignal): Promise<Relation[]> {
  const rows = await collect(pool, { text: catalog, values: [] }, signal);
  return rows.map(([name, kind, columns, key, layout, isGuarded]) => ({
    name: name ?? '',
    kind: kind as Relation['kind'],
    columns: JSON.parse(columns ?? '[]') as string[],
    key: JSON.parse(key ?? '[]') as string[],
    layout: layout as Layout,
    isGuarded: isGuarded === 't',
  }));
}

/** Names become folders: tables of others whose names would not do are not offered. */
const catalog = `
  select relname, case when relkind in ('v', 'm') then 'view' else 'table' end, columns, key,
         case when not has_chain then 'whole' when has_time then 'day' else 'chain' end,
         relrowsecurity and (select rolsuper from pg_roles where rolname = session_user)
  from pg_class as relation
  cross join lateral (
    select json_agg(attname order by attnum) as columns,
           coalesce(bool_or(attname = 'chain_id' and atttypid = 'bigint'::regtype), false) as has_chain,
           coalesce(bool_or(attname = 'timestamp' and atttypid = 'timestamptz'::regtype), false) as has_time
    from pg_attribute
    where attrelid = relation.oid and attnum > 0 and not attisdropped
  ) as attribute
  left join lateral (
    select json_agg(attname order by place) as key
    from pg_index
    cross join lateral unnest(indkey::int2[]) with ordinality as part (number, place)
    join pg_attribute on attrelid = indrelid and attnum = number
    where indrelid = relation.oid and indisprimary
  ) as index on true
  where relnamespace = to_regnamespace('explorer') and relkind in ('r', 'p', 'v', 'm') and not relispartition
    and relname ~ '^[a-z][a-z0-9_]*$' and has_table_privilege(oid, 'select')
  order by relname`;
