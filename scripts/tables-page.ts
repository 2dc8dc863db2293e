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
  readonly unit: string | null;
  readonly is_key: boolean;
  readonly is_nullable: boolean;
  readonly comment: string | null;
}

/** A column that so many tables have, described alike in each, is described once. */
const manyTables = 3;

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
  const [shared, sharedByViews] = [sharedColumns(tables), sharedColumns(views)];
  const page = [
    introduction,
    '## Columns that several tables have',
    list([...shared.values()]),
    '## Tables',
    ...tables.map((table) => describe(table, shared)),
    '## Views',
    'Several have:',
    list([...sharedByViews.values()]),
    ...views.map((view) => describe(view, sharedByViews)),
  ];
  return format(page.join('\n\n'), { parser: 'markdown' });
}

const introduction = `# The tables of schema explorer

<!-- Made by npm run generate tables from explorer.dictionary. Do not edit. -->

Every table, view and column has a comment in the database. The view \`explorer.dictionary\` lists them, and this page
repeats it. In psql \`\\d+ explorer.blocks\` shows those of a table. Names and meanings of columns are stable.

- Hashes and addresses are lower-case hex text with 0x, of 32 and 20 bytes, sorted by bytes.
- Amounts in wei, the smallest unit of a chain's own currency, are \`numeric(78,0)\`. Views divide them by 10 to the
  power of \`chains.native_decimals\`: columns named \`*_native\`, with \`native_symbol\` beside them. Group by it: nothing
  adds two currencies.
- Counts and heights are \`bigint\`, times are \`timestamptz\` in UTC, percentages are \`double precision\`.
- A column marked _key_ is part of the primary key.
- A nullable column is null if the API reports null or nothing, unless its text says more.
- A column holds the API field of its name, unless its text names another. Fields without a column are in \`extra\`.
- A child row, such as a block's reward, is deleted with its parent.
- \`page_id\` names the page that last changed the row
  ([how to look it up](getting-started.md#why-is-this-row-here)).

[How observations of an address become one row](addresses.md).`;

/** By name: the columns that many tables have, and describe alike. */
function sharedColumns(tables: readonly Relation[]): ReadonlyMap<string, Column> {
  const found = new Map<string, { readonly column: Column; tables: number }>();
  for (const column of tables.flatMap(({ columns }) => columns)) {
    const known = found.get(signatureOf(column));
    if (known === undefined) found.set(signatureOf(column), { column, tables: 1 });
    else known.tables += 1;
  }
  const many = [...found.values()].filter((entry) => entry.tables >= manyTables);
  return new Map(many.map(({ column }) => [column.name, column]));
}

const signatureOf = ({ name, type, is_key, comment }: Column) =>
  JSON.stringify([name, type, is_key, comment]);

function describe(relation: Relation, shared: ReadonlyMap<string, Column>): string {
  const { name, comment, questions, columns } = relation;
  const isShared = (column: Column) => {
    const alike = shared.get(column.name);
    return alike !== undefined && signatureOf(alike) === signatureOf(column);
  };
  const also = columns.filter(isShared).map((column) => code(column.name));
  return [
    `### ${name}`,
    textOf(comment, name),
    `Ask: ${textOf(questions?.[0] ?? null, name)}`,
    list(columns.filter((column) => !isShared(column))),
    ...(also.length === 0 ? [] : [`Also: ${also.join(', ')}.`]),
  ].join('\n\n');
}

const list = (columns: readonly Column[]) => columns.map(describeColumn).join('\n');

function describeColumn(column: Column): string {
  const { name, type, comment } = column;
  const text = comment?.replaceAll(saidAbove, '').replace(`; API field ${name}.`, '.') ?? null;
  return `- ${code(name)} ${type}${marks(column)}. ${textOf(text, name)}`;
}

/** What the introduction says of all columns. */
const saidAbove = / (?:Null: not reported|Lower-case hex with 0x, (?:20|32) bytes)\.(?= |$)/gu;

const marks = (column: Column) =>
  `${keyMark(column)}${[null, 'UTC'].includes(column.unit) ? '' : `, ${column.unit}`}${column.is_nullable ? ', nullable' : ''}`;

const keyMark = ({ is_key }: Column) => (is_key ? ' _key_' : '');
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
           'name', column_name, 'type', type, 'unit', unit, 'is_key', coalesce(is_key, false),
           'is_nullable', is_nullable, 'comment', description
         ) order by position)
         from explorer.dictionary as part
         where part.table_name = whole.table_name and column_name is not null
       ) as columns
from explorer.dictionary as whole
where column_name is null
order by table_name`;
