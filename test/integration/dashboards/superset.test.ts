import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { types, type QueryResult } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { roles } from '../../../src/db/roles.ts';
import type { TestDatabase } from '../../support/database.ts';
import { copiedForAnalysts } from './copied.ts';

const folder = join(import.meta.dirname, '../../../dashboards/superset');

interface Dataset {
  readonly table_name: string;
  readonly uuid: string;
  readonly database_uuid: string;
  readonly main_dttm_col: string | null;
  readonly sql: string;
  readonly columns: readonly { readonly column_name: string; readonly type: string }[];
  readonly metrics: readonly { readonly metric_name: string; readonly expression: string }[];
}

interface Chart {
  readonly slice_name: string;
  readonly uuid: string;
  readonly dataset_uuid: string;
  readonly params: {
    readonly metric?: string;
    readonly metrics?: readonly string[];
    readonly groupby?: readonly string[];
    readonly x_axis?: string;
    readonly all_columns?: readonly string[];
    readonly order_by_cols?: readonly string[];
    readonly adhoc_filters?: readonly { readonly subject: string }[];
  };
}

interface Dashboard {
  readonly position: Readonly<Record<string, { readonly meta?: { readonly uuid?: string } }>>;
  readonly metadata: {
    readonly native_filter_configuration: readonly {
      readonly targets: readonly {
        readonly datasetUuid?: string;
        readonly column?: { readonly name: string };
      }[];
    }[];
  };
}

/** All files of a kind, as Superset imports them. */
async function read<Kind>(kind: string): Promise<Kind[]> {
  const names = await readdir(join(folder, kind), { recursive: true });
  const files = names.filter((name) => name.endsWith('.yaml')).toSorted();
  return Promise.all(
    files.map(async (name) => parse(await readFile(join(folder, kind, name), 'utf8')) as Kind),
  );
}

const { INT8, TEXT, DATE, NUMERIC, FLOAT8, TIMESTAMPTZ } = types.builtins;
/** As Superset spells the types of Postgres. */
const typeNames: ReadonlyMap<number, string> = new Map<number, string>([
  [INT8, 'BIGINT'],
  [TEXT, 'TEXT'],
  [DATE, 'DATE'],
  [NUMERIC, 'NUMERIC'],
  [FLOAT8, 'DOUBLE PRECISION'],
  [TIMESTAMPTZ, 'TIMESTAMP WITH TIME ZONE'],
]);

const [datasets, charts, [dashboard], [connection]] = await Promise.all([
  read<Dataset>('datasets'),
  read<Chart>('charts'),
  read<Dashboard>('dashboards'),
  read<{ readonly uuid: string; readonly sqlalchemy_uri: string }>('databases'),
]);

const datasetOf = ({ dataset_uuid: uuid }: Pick<Chart, 'dataset_uuid'>): Dataset => {
  const found = datasets.find((dataset) => dataset.uuid === uuid);
  if (found === undefined) throw new Error(`there is no dataset ${uuid}`);
  return found;
};

let database: TestDatabase;
beforeAll(async () => {
  database = await copiedForAnalysts();
});
afterAll(() => database?.drop());

/** What the analyst's role is answered. */
async function ask(text: string): Promise<QueryResult<Record<string, unknown>>> {
  const session = await database.pool.connect();
  try {
    await session.query(`set role ${roles.analyst}`);
    return await session.query(text);
  } finally {
    session.release(true);
  }
}

test.each(datasets)('the columns of $table_name are those of its statement', async (dataset) => {
  const { fields } = await ask(`select * from (${dataset.sql}) as asked limit 0`);
  const told = new Map(fields.map(({ name, dataTypeID }) => [name, typeNames.get(dataTypeID)]));
  for (const { column_name: name, type } of dataset.columns)
    expect(told.get(name), name).toBe(type);
  expect([null, ...told.keys()]).toContain(dataset.main_dttm_col);
  expect(dataset.database_uuid).toBe(connection?.uuid);
});

test.each(datasets)('each metric of $table_name is a number', async ({ metrics, sql }) => {
  for (const { metric_name: name, expression } of metrics) {
    const { fields } = await ask(`select ${expression} from (${sql}) as asked`);
    expect([INT8, NUMERIC, FLOAT8], name).toContain(fields[0]?.dataTypeID);
  }
});

test.each(charts)('the chart "$slice_name" is answered', async (chart) => {
  const { sql, columns, metrics } = datasetOf(chart);
  const { params } = chart;
  const expressions = [...(params.metrics ?? []), ...(params.metric ? [params.metric] : [])].map(
    (name) => metrics.find((metric) => metric.metric_name === name)?.expression,
  );
  expect(expressions).not.toContain(undefined);
  const ordered = (params.order_by_cols ?? []).map((text) => (JSON.parse(text) as [string])[0]);
  const grouped = [
    ...(params.x_axis === undefined ? [] : [params.x_axis]),
    ...(params.groupby ?? []),
  ];
  const shown = [...grouped, ...(params.all_columns ?? [])];
  const filtered = (params.adhoc_filters ?? []).map(({ subject }) => subject);
  const known = columns.map(({ column_name: name }) => name);
  expect(known).toEqual(expect.arrayContaining([...shown, ...ordered, ...filtered]));

  const { rows } = await ask(
    `select ${[...shown, ...expressions].join(', ')} from (${sql}) as asked
     ${grouped.length > 0 ? `group by ${grouped.join(', ')}` : ''}`,
  );

  expect(rows.length).toBeGreaterThan(0);
  // A number of which nothing is known is an empty panel.
  expect(rows.some((row) => Object.values(row).every((value) => value !== null))).toBe(true);
});

test('the dashboard shows each chart, and its filters ask for columns that there are', () => {
  const placed = Object.values(dashboard?.position ?? {}).flatMap(({ meta }) => meta?.uuid ?? []);
  expect(placed.toSorted()).toEqual(charts.map(({ uuid }) => uuid).toSorted());
  const filters = dashboard?.metadata.native_filter_configuration ?? [];
  expect(filters.length).toBeGreaterThan(0);
  for (const { datasetUuid, column } of filters.flatMap(({ targets }) => targets)) {
    if (datasetUuid === undefined) continue;
    const names = datasetOf({ dataset_uuid: datasetUuid }).columns.map((one) => one.column_name);
    expect(names).toContain(column?.name);
  }
});

test('no password is in it', () => {
  // As Superset writes an export: who imports it is asked.
  expect(new URL(connection?.sqlalchemy_uri ?? '').password).toBe('XXXXXXXXXX');
});
