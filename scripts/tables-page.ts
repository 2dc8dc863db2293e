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

/** A column that no more tables than these lack is not named in each of the others. */
const fewTables = 3;

interface SharedColumn {
  readonly column: Column;
  /** In which tables it is, if few lack it. */
  readonly where: string | null;
}

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
    listShared(shared),
    '## Tables',
    ...tables.map((table) => describe(table, shared)),
    '## Views',
    'Those that are _summed_ hold stored sums, updated once a minute. Several views have:',
    listShared(sharedByViews),
    ...views.map((view) => describe(view, sharedByViews)),
  ];
  return format(page.join('\n\n'), { parser: 'markdown' });
}

const introduction = `# The tables of schema explorer

<!-- Made by npm run generate tables from explorer.dictionary. Do not edit. -->

Every table, view and column has a comment in the database. The view \`explorer.dictionary\` lists them, and this page
repeats it, with a question that each answers. In psql \`\\d+ explorer.blocks\` shows those of a table. Names and
meanings of columns are stable.

- Hashes and addresses are lower-case hex text with 0x, of 32 and 20 bytes, sorted by bytes.
- Amounts in wei, the smallest unit of a chain's own currency, are \`numeric(78,0)\`. Views divide them by 10 to the
  power of \`chains.native_decimals\`: columns named \`*_native\` are exact, in the currency of \`native_symbol\` beside
  them. Group by it: nothing adds two currencies.
- Counts and heights are \`bigint\`, percentages are \`double precision\`. Times are \`timestamptz\` in UTC; those of
  the program are by the database's clock, \`as_of\` by the worker's.
- A column marked _key_ is part of the primary key.
- A nullable column is null if the API reports null or nothing. If a null means something else, the text says so.
- A column holds the API field of its name, below the table's source, unless its text names another. Fields without a
  column are in \`extra\`.
- A child row, such as a block's reward, is deleted with its parent.
- \`page_id\` names the page that last changed the row
  ([how to look it up](getting-started.md#why-is-this-row-here)).

[How observations of an address become one row](addresses.md).`;

/** By name: the columns that many tables have, and describe alike. */
function sharedColumns(tables: readonly Relation[]): ReadonlyMap<string, SharedColumn> {
  const found = new Map<string, { readonly column: Column; tables: number }>();
  for (const column of tables.flatMap(({ columns }) => columns)) {
    const known = found.get(signatureOf(column));
    if (known === undefined) found.set(signatureOf(column), { column, tables: 1 });
    else known.tables += 1;
  }
  const many = [...found.values()].filter((one) => one.tables >= manyTables);
  return new Map(
    many.map(({ column }) => [column.name, { column, where: whereIs(column, tables) }]),
  );
}

function whereIs({ name }: Column, tables: readonly Relation[]): string | null {
  const lacking = tables.filter(({ columns }) => !columns.some((own) => own.name === name));
  if (lacking.length === 0) return ' _In all._';
  const names = lacking.map((table) => code(table.name)).join(', ');
  return lacking.length > fewTables ? null : ` _In all but ${names}._`;
}

const signatureOf = ({ name, type, is_key, comment }: Column) =>
  JSON.stringify([name, type, is_key, comment]);

function describe(relation: Relation, shared: ReadonlyMap<string, SharedColumn>): string {
  const { name, comment, questions, columns } = relation;
  const isShared = (column: Column) => {
    const alike = shared.get(column.name)?.column;
    return alike !== undefined && signatureOf(alike) === signatureOf(column);
  };
  const also = columns
    .filter((column) => isShared(column) && shared.get(column.name)?.where === null)
    .map((column) => code(column.name));
  return [
    `### ${name}`,
    textOf(comment, name).replace(summed, '[Summed](#refreshed).'),
    `_${textOf(questions?.[0] ?? null, name)}_`,
    list(columns.filter((column) => !isShared(column))),
    ...(also.length === 0 ? [] : [`Also: ${also.join(', ')}.`]),
  ].join('\n\n');
}

/** How the comment of a view over stored sums ends. */
const summed = 'Summed up once a minute: explorer.refreshed says up to when.';

const list = (columns: readonly Column[]) => columns.map(describeColumn).join('\n');

const listShared = (shared: ReadonlyMap<string, SharedColumn>) =>
  [...shared.values()]
    .map(({ column, where }) => describeColumn(column) + (where ?? ''))
    .join('\n');

function describeColumn(column: Column): string {
  const { name, type, comment, unit } = column;
  const field = new RegExp(String.raw`; API field (?:[^ ,;]+\.)?${name}(?=\.(?: |$))`, 'u');
  const text = textOf(comment?.replace(field, '') ?? null, name);
  const inUtc = unit?.startsWith('UTC') === true ? text.replaceAll(/, UTC(?=[.,;:])/gu, '') : text;
  const short = inUtc.replaceAll(saidAbove, '');
  return `- ${code(name)} ${type}${marks(column, short)}. ${short}`;
}

/** What the introduction says of all columns. */
const saidAbove =
  / (?:Null: not reported|Lower-case hex with 0x, (?:20|32) bytes)\.(?= |$)|, (?:by the database's clock|(?:in the chain's own currency, )?exact: native_symbol names it)(?=[.,;])/gu;

/** Units that the type or the name of a column says. */
const evidentUnits = new Set([null, 'UTC', 'UTC day', 'native_symbol']);

function marks({ is_key, unit, is_nullable }: Column, text: string): string {
  const key = is_key ? ' _key_' : '';
  const counted = evidentUnits.has(unit) ? '' : `, ${unit}`;
  return `${key}${counted}${is_nullable && !text.includes('Null: ') ? ', nullable' : ''}`;
}

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
