import type { Pool } from 'pg';
import { format } from 'prettier';
import { Document, isScalar, visit } from 'yaml';
import { tableName } from '../src/db/column-types.ts';
import { operationNames, operations } from '../src/lists/registry.ts';

/** The generated file of the dbt package. */
export const dbtFile = 'dbt/models/explorer.yml';

/** A table or view of schema `explorer`, with what the database says of it. */
interface Relation {
  readonly name: string;
  readonly description: string;
  readonly columns: readonly {
    readonly name: string;
    readonly data_type: string;
    readonly unit: string | null;
    readonly description: string;
  }[];
  /** Null: a view. */
  readonly key: readonly string[] | null;
  readonly references: readonly Reference[] | null;
}

interface Reference {
  readonly columns: readonly string[];
  readonly to: string;
  readonly to_columns: readonly string[];
}

/** Analysts may not read the first, and the second has no column `updated_at` by which a project limits tests. */
const untested: ReadonlySet<string> = new Set(['address_watchlist_names', 'chains']);

/** The lists of tables, which are as fresh as the last poll of their feeds. */
const lists = new Map(
  operationNames.flatMap((name) =>
    operations[name].tables.map((table) => [tableName(table), name] as const),
  ),
);

/**
 * The sources of the dbt package, from the comments and keys of a migrated database of Postgres 18 or later.
 *
 * @returns YAML as prettier leaves it
 */
export async function dbtSources(pool: Pool): Promise<string> {
  const { rows: relations } = await pool.query<Relation>(catalog);
  // dbt would evaluate it.
  if (/\{[{%#]/u.test(JSON.stringify(relations))) throw new Error('a comment has a template');
  const explorer = {
    name: 'explorer',
    schema: 'explorer',
    description: 'What explorer-etl mirrors from a block explorer.',
    tables: relations.map(sourceOf),
  };
  const document = new Document({ version: 2, sources: [explorer] });
  visit(document, { Seq: (_, node) => void (node.flow = node.items.every(isScalar)) });
  const text = document.toString({ lineWidth: 0 });
  const head = '# Made by npm run generate tables from explorer.dictionary. Do not edit.\n';
  return format(head + text, { parser: 'yaml', printWidth: 100, singleQuote: true });
}

function sourceOf({ name, description, columns, key, references }: Relation) {
  const list = lists.get(`explorer.${name}`);
  const tests = untested.has(name)
    ? []
    : [...keyTest(name, key), ...(references ?? []).map(testOf(name))];
  return {
    name,
    description,
    ...(list !== undefined && { config: freshnessOf(list) }),
    ...(tests.length > 0 && { data_tests: tests }),
    columns: columns.map(({ unit, ...column }) => ({
      ...column,
      ...(unit !== null && { config: { meta: { unit } } }),
    })),
  };
}

/** A list that nothing follows is not late, and one that was never polled is. */
const freshnessOf = (list: string) => ({
  loaded_at_query: `select coalesce(min(coalesce(looked_at, 'epoch')), now()) from explorer.freshness where operation = '${list}' and is_wanted`,
  freshness: {
    warn_after: { count: "{{ var('explorer_warn_hours', 26) }}", period: 'hour' },
    error_after: { count: "{{ var('explorer_error_hours', 72) }}", period: 'hour' },
  },
});

const keyTest = (table: string, columns: readonly string[] | null) =>
  columns === null
    ? []
    : [{ explorer_key: { name: `explorer_${table}_key`, arguments: { columns } } }];

const testOf =
  (table: string) =>
  ({ columns, to, to_columns }: Reference) => ({
    explorer_relation: {
      name: `explorer_${table}_${[...columns.slice(1), to].join('_')}`,
      arguments: { columns, to: `source('explorer', '${to}')`, to_columns },
    },
  });

/** References to what may be absent, such as a batch that was not read yet, are no tests. */
const catalog = `
select whole.table_name as name, whole.description, (
         select json_agg(json_build_object(
           'name', column_name, 'data_type', type, 'unit', nullif(unit, 'UTC'), 'description', description
         ) order by position)
         from explorer.dictionary as part
         where part.table_name = whole.table_name and column_name is not null
       ) as columns, (
         select json_agg(column_name order by position) from explorer.dictionary as part
         where part.table_name = whole.table_name and is_key
       ) as key, (
         select json_agg(json_build_object(
           'columns', array(select attname from unnest(conkey) with ordinality as k (num, at)
             join pg_attribute on attrelid = conrelid and attnum = num order by at),
           'to', relname,
           'to_columns', array(select attname from unnest(confkey) with ordinality as k (num, at)
             join pg_attribute on attrelid = confrelid and attnum = num order by at)
         ) order by conname)
         from pg_constraint join pg_class on pg_class.oid = confrelid
         where contype = 'f' and conrelid = ('explorer.' || whole.table_name)::regclass
           and (conenforced or relname in ('addresses', 'chains'))
       ) as references
from explorer.dictionary as whole
where column_name is null
order by table_name`;
