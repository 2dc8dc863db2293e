import { sql } from 'drizzle-orm';
import type { Database } from '../db/transaction.ts';

/** A table or view for analysts, with its columns in order. */
export interface DescribedRelation {
  readonly relation: string;
  readonly comment: string;
  readonly columns: readonly {
    readonly name: string;
    readonly type: string;
    readonly comment: string;
  }[];
}

/** The documentation of every table, view and column of schema `explorer`. */
export async function readDictionary(db: Database): Promise<DescribedRelation[]> {
  const { rows } = await db.execute<{ relation: DescribedRelation }>(sql`
    with described as materialized (select * from explorer.dictionary)
    select json_build_object(
      'relation', 'explorer.' || table_name, 'comment', coalesce(described.description, ''),
      'columns', columns
    ) as relation
    from described
    join (
      select table_name, json_agg(json_build_object(
        'name', column_name, 'type', type, 'comment', coalesce(description, '')
      ) order by position) as columns
      from described where column_name is not null
      group by table_name
    ) as own using (table_name)
    where column_name is null
    order by table_name
  `);
  return rows.map(({ relation }) => relation);
}
