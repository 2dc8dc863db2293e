import { expect, test } from 'vitest';
import type { TestDatabase } from '../../harness/database.ts';
import { openDuckDb, type DuckRow } from '../../harness/duckdb.ts';
import { copiedChains, openLake, type Lake } from './lake.ts';

type Ask = (statement: string) => Promise<DuckRow[]>;

type Dialect = 'postgres' | 'duckdb';

/** DuckDB's largest integer has 38 digits, wei has up to 78: these sum up 20 digits at a time. */
const digits = [1, 21, 41, 61];

/** What comes of a column, the same in Postgres and in DuckDB: the exact sum of numbers, the bounds of times. */
function sumsOf(type: string, column: string, dialect: Dialect): string[] {
  const isPostgres = dialect === 'postgres';
  const whole = isPostgres ? 'numeric' : 'hugeint';
  if (type === 'bigint') return [`sum(${column}::${whole})`, `min(${column})`, `max(${column})`];
  if (type.startsWith('numeric')) {
    const padded = `lpad(${column}::varchar, 80, '0')`;
    return digits.map((from) => `sum(substr(${padded}, ${from}, 20)::${whole})`);
  }
  if (type === 'timestamp with time zone') {
    return ['min', 'max'].map((bound) =>
      isPostgres
        ? `(extract(epoch from ${bound}(${column})) * 1000000)::bigint`
        : `epoch_us(${bound}(${column}))`,
    );
  }
  if (type === 'boolean') return [`count(*) filter (where ${column})`];
  if (type === 'double precision') return [`sum(floor(${column} * 1000)::bigint)`];
  const order = isPostgres ? `${column} collate "C"` : column;
  return [`md5(string_agg(${column}, '|' order by ${order}))`];
}

interface Column {
  readonly name: string;
  readonly type: string;
}

/** The columns of a relation, as Postgres has them. */
async function columnsOf({ pool }: TestDatabase, name: string): Promise<readonly Column[]> {
  const { rows } = await pool.query<Column>(
    `select attname as name, format_type(atttypid, atttypmod) as type from pg_attribute
     where attrelid = $1::regclass and attnum > 0 and not attisdropped order by attnum`,
    [`explorer.${name}`],
  );
  return rows;
}

const totals = (columns: readonly Column[], dialect: Dialect): string =>
  columns
    // Postgres spells documents anew, so they are compared as text by the hostile test.
    .filter(({ type }) => type !== 'jsonb')
    .flatMap(({ name, type }) => [`count("${name}")`, ...sumsOf(type, `"${name}"`, dialect)])
    .map((sum, at) => `(${sum})::varchar as s${at}`)
    .join(', ');

const plain = (row: DuckRow | undefined): string[] =>
  Object.values(row ?? {}).map((value) => String(value));

type Exported = Awaited<ReturnType<Lake['exported']>>;

async function expectEqual(
  exported: Exported,
  database: TestDatabase,
  ask: Ask,
  reader: (name: string, columns: readonly Column[]) => string,
): Promise<void> {
  for (const { name, rows: told } of exported.values()) {
    const columns = await columnsOf(database, name);
    const { rows } = await database.pool.query<DuckRow>(
      `select count(*) as rows, ${totals(columns, 'postgres')} from explorer.${name}`,
    );
    expect({ name, rows: String(told) }).toEqual({ name, rows: rows[0]?.['rows'] });
    if (told === 0) continue;
    const [read] = await ask(
      `select count(*) as rows, ${totals(columns, 'duckdb')} from ${reader(name, columns)}`,
    );
    expect({ name, sums: plain(read) }).toEqual({ name, sums: plain(rows[0]) });
  }
}

test('DuckDB counts and sums in Parquet files what Postgres does in each table', async () => {
  const database = await copiedChains();
  await database.pool.query(
    `update explorer.user_operations set "timestamp" = null
     where hash in (select hash from explorer.user_operations order by hash limit 3)`,
  );
  const lake = await openLake(database);
  const ask = await openDuckDb();

  const outcomes = await lake.exported();

  expect(outcomes.get('user_operations')?.rows).toBe(300);
  expect(outcomes.get('blocks')?.rows).toBe(130);
  await expectEqual(outcomes, database, ask, (name) => `'${lake.folder}/${name}/**/*.parquet'`);
  const daily = `select chain_id::varchar as chain_id, day::varchar as day, count(*)::varchar as rows,
                        sum(substr(lpad(fee, 80, '0'), 61)::hugeint)::varchar as fee
                 from '${lake.folder}/user_operations/**/*.parquet'
                 group by all order by chain_id, day nulls last`;
  const { rows } = await database.pool.query<DuckRow>(
    `select chain_id::text, (timestamp at time zone 'UTC')::date::text as day, count(*)::text as rows,
            sum(substr(lpad(fee::text, 80, '0'), 61)::numeric)::text as fee
     from explorer.user_operations group by 1, 2 order by chain_id, day nulls last`,
  );
  expect(await ask(daily)).toEqual(rows);
  expect(rows.filter(({ day }) => day === null).length).toBeGreaterThan(0);
});

test('the same of CSV files, which have all columns', async () => {
  const database = await copiedChains();
  const lake = await openLake(database);
  const ask = await openDuckDb();

  const outcomes = await lake.exported(['--format', 'csv']);

  await expectEqual(outcomes, database, ask, (name, columns) => {
    const types = columns.map((column) => `'${column.name}': '${duckType(column.type)}'`);
    const path = `${lake.folder}/${name}/**/*.csv`;
    return `read_csv('${path}', header = true, allow_quoted_nulls = false, hive_partitioning = ${columns.some((column) => column.name === 'chain_id')}, columns = {${types.join(', ')}})`;
  });
});

const duckType = (type: string): string =>
  type === 'bigint'
    ? 'BIGINT'
    : type === 'boolean'
      ? 'BOOLEAN'
      : type === 'double precision'
        ? 'DOUBLE'
        : type === 'timestamp with time zone'
          ? 'TIMESTAMPTZ'
          : 'VARCHAR';

test('views go by chain, and by day if they have a time', async () => {
  const database = await copiedChains();
  const lake = await openLake(database);
  const ask = await openDuckDb();

  await lake.exported(['operations_enriched', 'coverage']);

  const [enriched] = await ask(
    `select count(*)::varchar as rows, md5(string_agg(fee_native, '|' order by hash)) as fee
     from '${lake.folder}/operations_enriched/**/*.parquet'`,
  );
  const { rows } = await database.pool.query<DuckRow>(
    `select count(*)::text as rows, md5(string_agg(fee_native::text, '|' order by hash)) as fee
     from explorer.operations_enriched`,
  );
  expect(enriched).toEqual(rows[0]);
  expect(await lake.paths()).toEqual(expect.arrayContaining(['coverage/chain_id=10/data.parquet']));
  const [coverage] = await ask(
    `select count(*)::int as rows from '${lake.folder}/coverage/*/data.parquet'`,
  );
  const { rows: stored } = await database.pool.query(
    'select count(*)::int as rows from explorer.coverage',
  );
  expect(coverage).toEqual(stored[0]);
});
