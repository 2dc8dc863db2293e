import type { Pool } from 'pg';
import { collect } from './collect.ts';

/** How the rows of a relation lie in files: one for each chain and UTC day, one for each chain, or one. */
export type Layout = 'day' | 'chain' | 'whole';

export interface RelationColumn {
  readonly name: string;
  /** As Postgres spells it, such as `numeric(78,0)`. */
  readonly type: string;
  /** That type's oid. */
  readonly oid: number;
}

/** A table or view of schema explorer. */
export interface Relation {
  readonly name: string;
  readonly kind: 'table' | 'view';
  readonly columns: readonly RelationColumn[];
  /** Columns of the primary key; none of a view. */
  readonly key: readonly string[];
  readonly layout: Layout;
  /** Whether each row tells when it last changed, so that files can be kept. */
  readonly isDated: boolean;
  /** Whether policies would hide rows from a superuser, whose rights are put off. */
  readonly isGuarded: boolean;
}

/**
 * The tables and views of schema explorer that this role may read, by name. Parts of a table that is
 * partitioned are in that table.
 */
export async function readRelations(pool: Pool, signal: AbortSignal): Promise<Relation[]> {
  const rows = await collect(pool, { text: catalog, values: [] }, signal);
  return rows.map(([name, kind, columns, key, isGuarded]) =>
    relationOf({
      name: name ?? '',
      kind: kind === 'v' ? 'view' : 'table',
      columns: JSON.parse(columns ?? '[]') as RelationColumn[],
      key: JSON.parse(key ?? '[]') as string[],
      isGuarded: isGuarded === 't',
    }),
  );
}

/** Names become folders: those of others' tables that would not do as one are not offered. */
const catalog = `
  select relname, case when relkind in ('v', 'm') then 'v' else 'r' end, columns, key,
         relrowsecurity and (select rolsuper from pg_roles where rolname = session_user)
  from pg_class as relation
  cross join lateral (
    select json_agg(json_build_object('name', attname, 'type', format_type(atttypid, atttypmod),
                                       'oid', atttypid::bigint) order by attnum) as columns
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

function relationOf(found: Omit<Relation, 'layout' | 'isDated'>): Relation {
  const has = (name: string, type: string) =>
    found.columns.some((column) => column.name === name && column.type === type);
  const isDated = found.kind === 'table' && has('updated_at', 'timestamp with time zone');
  if (!has('chain_id', 'bigint')) return { ...found, isDated, layout: 'whole' };
  const hasTime = has('timestamp', 'timestamp with time zone');
  return { ...found, isDated, layout: hasTime ? 'day' : 'chain' };
}
