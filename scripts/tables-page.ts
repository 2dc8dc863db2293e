import type { Pool } from 'pg';
import { format } from 'prettier';

/** A table or view of schema `explorer`, as the dictionary describes it. */
interface Relation {
  readonly name: string;
  readonly is_view: boolean;
  readonly comment: string | null;
  readonly questions: readonly string[] | null;
  readonly columns: readonly Column[];
}

interface Column {
  readonly name: string;
  readonly type: string;
  readonly is_key: boolean;
  readonly is_nullable: boolean;
  readonly comment: string | null;
}

/** A column that so many tables and views have, described alike in each, is described once. */
const manyTables = 3;

/** A column that no more tables, or views, than these lack is not named in each of the others. */
const fewTables = 3;

/**
 * docs/tables.md, from `explorer.dictionary` of a migrated database.
 *
 * @returns Markdown as prettier leaves it
 * @throws where a table, a view or a column has no comment, or a table no questions
 */
export async function tablesPage(pool: Pool): Promise<string> {
  const { rows: relations } = await pool.query<Relation>(catalog);
  const [tables, views] = [
    relations.filter(({ is_view }) => !is_view),
    relations.filter(({ is_view }) => is_view),
  ];
  const shared = sharedColumns(relations);
  const describeAll = (all: readonly Relation[]) => {
    const names = new Set([...shared.values()].map(({ name }) => name));
    const everywhere = new Set([...names].filter((name) => lacking(name, all) !== null));
    return all.map((relation) => describe(relation, shared, everywhere));
  };
  const page = [
    introduction,
    '## Columns that several tables have',
    [...shared.values()].map((column) => describeShared(column, tables, views)).join('\n'),
    '## Tables',
    ...describeAll(tables),
    '## Views',
    'Those that are _summed_ hold stored sums, updated once a minute.',
    ...describeAll(views),
  ];
  return format(page.join('\n\n'), { parser: 'markdown' });
}

const introduction = `# The tables of schema explorer

<!-- Made by npm run generate tables from explorer.dictionary. Do not edit. -->

This page repeats the comments in the database. The view \`explorer.dictionary\` lists them, with two questions that each
table answers; in psql \`\\d+ explorer.blocks\` shows those of a table. Names and meanings of columns are stable.

- Hashes and addresses are lower-case hex text with 0x, of 32 and 20 bytes, sorted by bytes.
- Amounts in wei, the smallest unit of a chain's currency, are \`numeric(78,0)\`. Views divide them by 10 to the
  power of \`chains.native_decimals\`: columns named \`*_native\` are exact, in the currency of \`native_symbol\` beside
  them. Group by it: nothing adds two currencies.
- Times and days are in UTC; the program's by the database's clock, \`as_of\` by the worker's, if earlier.
- _key_ marks the columns of a table's primary key.
- \`?\` marks a column that is null if the API reports null or nothing. Other nulls have a meaning, after \`Null:\`.
- A column holds the API field of its name, below the table's source, unless its text names another: \`miner_hash\` that
  of \`miner\` or \`miner.hash\`. Fields without a column are in \`extra\`.
- A child row, such as a block's reward, is deleted with its parent.
- \`page_id\` shows [why a row is as it is](getting-started.md#why-is-this-row-here).

[How observations of an address become one row](addresses.md).`;

/** By signature: the columns that many tables and views have, and describe alike. */
function sharedColumns(relations: readonly Relation[]): ReadonlyMap<string, Column> {
  const columns = relations.flatMap((relation) => relation.columns);
  const alike = [...Map.groupBy(columns, signatureOf)];
  const many = alike.filter(([, same]) => same.length >= manyTables);
  return new Map(many.flatMap(([key, [column]]) => (column === undefined ? [] : [[key, column]])));
}

/** The relations without a column, if they are few. */
function lacking(name: string, relations: readonly Relation[]): readonly string[] | null {
  const without = relations.filter(({ columns }) => !columns.some((own) => own.name === name));
  return without.length > fewTables ? null : without.map((relation) => code(relation.name));
}

/** Columns of a view are no keys, and an API field may be left out: what the page says is what counts. */
const signatureOf = (column: Column) => describeColumn({ ...column, is_key: false });

function describeShared(
  column: Column,
  tables: readonly Relation[],
  views: readonly Relation[],
): string {
  const kinds = [
    ['tables', tables],
    ['views', views],
  ] as const;
  const where = kinds.flatMap(([kind, relations]) => {
    const without = lacking(column.name, relations);
    if (without === null) return [];
    return without.length === 0 ? `all ${kind}` : `all ${kind} but ${without.join(', ')}`;
  });
  return describeColumn(column) + (where.length === 0 ? '' : ` _In ${where.join(', ')}._`);
}

/**
 * @param shared described at the head of the page
 * @param everywhere those of them that nearly all have, which are not named here
 */
function describe(
  { name, comment, questions, columns }: Relation,
  shared: ReadonlyMap<string, Column>,
  everywhere: ReadonlySet<string>,
): string {
  if (questions === null) throw new Error(`${name} has no questions`);
  const isShared = (column: Column) => shared.has(signatureOf(column));
  const also = columns
    .filter((column) => isShared(column) && !everywhere.has(column.name))
    .map((column) => code(column.name));
  return [
    `### ${name}`,
    textOf(comment, name).replace(summed, '[Summed](#refreshed).'),
    columns
      .filter((column) => !isShared(column))
      .map(describeColumn)
      .join('\n'),
    ...(also.length === 0 ? [] : [`Also: ${also.join(', ')}.`]),
  ].join('\n\n');
}

/** How the comment of a view over stored sums ends. */
const summed = 'Summed up once a minute: explorer.refreshed says up to when.';

function describeColumn({ name, type, comment, is_key, is_nullable }: Column): string {
  const path = name.replace(/_hash$/u, '(?:_hash)?').replaceAll('_', '[_.]');
  const field = new RegExp(
    String.raw`; API field (?:[^ ,;]+\.)?${path}(?=\.(?: |$)|, free text)`,
    'u',
  );
  const text = textOf(comment?.replace(field, '') ?? null, name).replaceAll(saidAbove, '');
  const nullable = is_nullable && !text.includes('Null: ') ? '?' : '';
  return `- ${code(name)} ${type}${nullable}${is_key ? ' _key_' : ''}: ${text}`;
}

/** What the introduction says of all columns. */
const saidAbove =
  / (?:Null: not reported|Lower-case hex with 0x, (?:20|32) bytes)\.(?= |$)|, (?:UTC|by the database's clock|(?:in the chain's own currency, )?exact: native_symbol names it)(?=[.,;:])/gu;

const code = (name: string) => `\`${name}\``;

/** A comment as Markdown that shows it as it is. */
function textOf(comment: string | null, name: string): string {
  if (comment === null) throw new Error(`${name} has no comment`);
  return comment.replaceAll(/[\\`*<]|\b_|_\b/gu, String.raw`\$&`);
}

const catalog = `
select whole.table_name as name, whole.kind = 'view' as is_view, whole.description as comment,
       whole.questions, (
         select json_agg(json_build_object(
           'name', column_name, 'type', type, 'is_key', coalesce(is_key, false),
           'is_nullable', is_nullable, 'comment', description
         ) order by position)
         from explorer.dictionary as part
         where part.table_name = whole.table_name and column_name is not null
       ) as columns
from explorer.dictionary as whole
where column_name is null
order by table_name`;
