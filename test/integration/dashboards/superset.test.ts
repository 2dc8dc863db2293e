import { types, type QueryResult } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { roles } from '../../../src/db/roles.ts';
import type { TestDatabase } from '../../harness/database.ts';
import { copiedForAnalysts } from './copied.ts';
import { charts, columnsOf, datasetOf, datasets, read, statementOf } from './superset-files.ts';

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

const [[dashboard], [connection]] = await Promise.all([
  read<Dashboard>('dashboards'),
  read<{ readonly uuid: string; readonly sqlalchemy_uri: string }>('databases'),
]);

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
  const { fields } = await ask(`select * from (${dataset.sql}) as requested limit 0`);
  const told = new Map(fields.map(({ name, dataTypeID }) => [name, typeNames.get(dataTypeID)]));
  for (const { column_name: name, type } of dataset.columns)
    expect(told.get(name), name).toBe(type);
  expect([null, ...told.keys()]).toContain(dataset.main_dttm_col);
  expect(dataset.database_uuid).toBe(connection?.uuid);
});

test.each(datasets)('each metric of $table_name is a number', async ({ metrics, sql }) => {
  for (const { metric_name: name, expression } of metrics) {
    const { fields } = await ask(`select ${expression} from (${sql}) as requested`);
    expect([INT8, NUMERIC, FLOAT8], name).toContain(fields[0]?.dataTypeID);
  }
});

test.each(charts)('the chart "$slice_name" is answered', async (chart) => {
  const { columns } = datasetOf(chart);
  const { params } = chart;
  const ordered = (params.order_by_cols ?? []).map((text) => (JSON.parse(text) as [string])[0]);
  const filtered = (params.adhoc_filters ?? []).map(({ subject }) => subject);
  const known = columns.map(({ column_name: name }) => name);
  const { shown } = columnsOf(chart);
  expect(known).toEqual(expect.arrayContaining([...shown, ...ordered, ...filtered]));

  const { rows } = await ask(statementOf(chart));

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
  // As Superset writes an export: who imports it is prompted.
  expect(new URL(connection?.sqlalchemy_uri ?? '').password).toBe('XXXXXXXXXX');
});
