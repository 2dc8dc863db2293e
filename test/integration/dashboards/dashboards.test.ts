import { readFile } from 'node:fs/promises';
import { types, type QueryResult } from 'pg';
import { beforeAll, describe, expect, test } from 'vitest';
import { allBoards, boards } from '../../../scripts/dashboards/boards.ts';
import {
  dashboardText,
  panelsOf,
  readWritten,
  sent,
  supersetZip,
  zipSuperset,
} from '../../../scripts/dashboards/written.ts';
import { type SimulatedChain, startInstantMs } from '../../../simulator/index.ts';
import { grantRoles, roles } from '../../../src/db/roles.ts';
import { operationNames } from '../../../src/lists/registry.ts';
import { type Question, questions, statementOf as query } from '../../../src/query/question.ts';
import { sharedCopy, plainChain } from '../../harness/sync.ts';
import { sumUp } from '../../harness/ledger.ts';
import {
  charts,
  columnsOf,
  connection,
  dashboard,
  datasetOf,
  datasets,
  statementOf,
} from './superset-files.ts';

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

const [optimism, celo] = [10, 42220];
const all = [optimism, celo];
const chains: SimulatedChain[] = all.map((id) => ({
  ...plainChain,
  id,
  name: `chain ${id}`,
  userOperations: 200,
  batches: { first: 1, count: 4, blocks: 60 },
  factories: 30,
}));
const dayMs = 86_400_000;
/** The days around the simulated world. */
const view = {
  from: new Date(startInstantMs - 30 * dayMs),
  to: new Date(Date.now() + dayMs),
};

const database = sharedCopy(9, chains, { operations: operationNames });
beforeAll(async () => {
  await sumUp(database.db);
  await grantRoles(database.pool);
  // Something to show where all is well.
  await database.query(`
    insert into etl.late_arrivals (chain_id, operation, key, height, timestamp, seen_at, page_id)
    select chain_id, 'user-operations', hash, block_number, timestamp, timestamp, page_id
    from explorer.user_operations where timestamp is not null limit 1;
    delete from explorer.read_batches where batch_number = 2;
    select etl.recount_batches('%')
  `);
});

/** What the analyst's role is answered. */
async function ask(
  text: string,
  values: readonly (string | null)[] = [],
): Promise<QueryResult<Record<string, unknown>>> {
  const session = await database.pool.connect();
  try {
    await session.query(`set role ${roles.analyst}`);
    return await session.query(text, [...values]);
  } finally {
    session.release(true);
  }
}

test.each(Object.entries(allBoards))(
  'the Grafana dashboard %s is the one in code',
  async (name, board) => {
    expect(await readWritten(name), 'it is out of date: run npm run generate dashboards').toBe(
      await dashboardText(board),
    );
  },
);

describe.each(Object.keys(boards))('the Grafana dashboard %s', (name) => {
  test('has an answer in each panel, also for an analyst', async () => {
    const { panels, marks } = await panelsOf(name);
    expect(panels.length).toBeGreaterThan(2);
    expect(marks).toHaveLength(1);
    const { rows: runs } = await ask(sent(marks[0] ?? '', { ...view, chains: all }));
    expect(runs).toContainEqual(
      expect.objectContaining({ time: expect.any(Date), timeend: expect.any(Date) }),
    );
    for (const { title, type, targets } of panels) {
      for (const { rawSql, format } of targets) {
        const { rows, fields } = await ask(sent(rawSql, { ...view, chains: all }));
        expect(rows.length, title).toBeGreaterThan(0);
        const time = fields.find(({ name: column }) => column === 'time');
        const expected = format === 'time_series' ? TIMESTAMPTZ : undefined;
        expect(time?.dataTypeID, title).toBe(expected);
        // A number has no text beside it; of several each has its own.
        const texts = fields.filter(({ dataTypeID }) => typeNames.get(dataTypeID) === 'TEXT');
        expect(rows.length === 1 || type !== 'stat' || texts.length === 1, title).toBe(true);
      }
    }
  });
});

describe('the Superset dashboard', () => {
  test.each(datasets)('has the columns and numbers of $table_name', async (dataset) => {
    const { fields } = await ask(`select * from (${dataset.sql}) as requested limit 0`);
    const answered = new Map(
      fields.map(({ name, dataTypeID }) => [name, typeNames.get(dataTypeID)]),
    );
    for (const { column_name: name, type } of dataset.columns) {
      expect(answered.get(name), name).toBe(type);
    }
    expect([null, ...answered.keys()]).toContain(dataset.main_dttm_col);
    expect(dataset.database_uuid).toBe(connection?.uuid);
    for (const { metric_name: name, expression } of dataset.metrics) {
      const metric = await ask(`select ${expression} from (${dataset.sql}) as requested`);
      expect([INT8, NUMERIC, FLOAT8], name).toContain(metric.fields[0]?.dataTypeID);
    }
  });

  test.each(charts)('has an answer in the chart "$slice_name"', async (chart) => {
    const { params } = chart;
    const ordered = (params.order_by_cols ?? []).map((text) => (JSON.parse(text) as [string])[0]);
    const filtered = (params.adhoc_filters ?? []).map(({ subject }) => subject);
    const known = datasetOf(chart).columns.map(({ column_name: name }) => name);
    const { shown } = columnsOf(chart);
    expect(known).toEqual(expect.arrayContaining([...shown, ...ordered, ...filtered]));

    const { rows } = await ask(statementOf(chart));

    // A number of which nothing is known is an empty panel.
    expect(rows.some((row) => Object.values(row).every((value) => value !== null))).toBe(true);
  });

  test('is in the zip as its files are, and no two have the same id', async () => {
    const isCurrent = (await readFile(supersetZip)).equals(await zipSuperset());
    expect(isCurrent, 'it is out of date: run npm run generate dashboards').toBe(true);
    const ids = [...charts, ...datasets, connection, dashboard].map((file) => file?.uuid);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test('shows each chart, filters by columns that exist, and holds no password', () => {
    const placed = Object.values(dashboard?.position ?? {}).flatMap(({ meta }) => meta?.uuid ?? []);
    expect(placed.toSorted()).toEqual(charts.map(({ uuid }) => uuid).toSorted());
    const filters = dashboard?.metadata.native_filter_configuration ?? [];
    expect(filters.length).toBeGreaterThan(0);
    for (const { datasetUuid, column } of filters.flatMap(({ targets }) => targets)) {
      if (datasetUuid === undefined) continue;
      const names = datasetOf({ dataset_uuid: datasetUuid }).columns.map((one) => one.column_name);
      expect(names).toContain(column?.name);
    }
    // As Superset writes an export: who imports it is prompted.
    expect(new URL(connection?.sqlalchemy_uri ?? '').password).toBe('XXXXXXXXXX');
  });
});

test('each view with amounts has the symbol and counts by the decimals of its chain', async () => {
  const { rows: relations } = await ask(
    `select table_name::text as relation from information_schema.columns
     where table_schema = 'explorer' and column_name like '%\\_native' group by 1 order by 1`,
  );
  expect(relations).toHaveLength(8);
  for (const { relation } of relations) {
    const { rows } = await ask(
      `select chain_id::int, native_symbol from explorer.${String(relation)} group by 1, 2 order by 1`,
    );
    expect(rows, String(relation)).toEqual([
      { chain_id: optimism, native_symbol: 'ETH' },
      { chain_id: celo, native_symbol: 'CELO' },
    ]);
  }
  await database.query(`update explorer.chains set native_decimals = 6 where chain_id = ${celo}`);
  const { rows } = await ask(
    `select count(*) filter (where fee_native * power(10::numeric, native_decimals) <> fee)::int as wrong,
            count(fee_native) > 0 as has_some
     from explorer.operations_enriched join explorer.chains using (chain_id)
     group by chain_id`,
  );
  await database.query('update explorer.chains set native_decimals = 18');
  expect(rows).toEqual(all.map(() => ({ wrong: 0, has_some: true })));
});

/** Columns and sums of amounts in a chain's own currency. */
const amount =
  /\b(?:fees?|mean_fee|burnt|burnt_fees|transaction_fees|reward|priority_fee)\b|_native\b|_eth\b/u;

/** A statement that shows amounts, for the chains that a person chooses. */
interface Shown {
  readonly name: string;
  readonly words: string;
  readonly rowsOf: (chains: readonly number[]) => Promise<QueryResult<Record<string, unknown>>>;
}

const ofQuestion = (question: Question): Shown => ({
  name: `the question ${question.name}`,
  words: question.text,
  rowsOf: (chosen) => {
    const names = new Set(question.parameters.map(({ name }) => name));
    const { text, values } = query(question, {
      ...(chosen.length === 1 && { chain: chosen[0] }),
      ...(names.has('days') && { days: 3650 }),
      ...(names.has('limit') && { limit: 10_000 }),
    });
    return ask(text, values);
  },
});
const panels = await Promise.all(
  Object.keys(boards).map(async (board) =>
    (await panelsOf(board)).panels.flatMap(({ title, targets }) =>
      targets.map(({ rawSql }): Shown => ({
        name: `"${title}" of ${board}`,
        words: rawSql,
        rowsOf: (chosen) => ask(sent(rawSql, { ...view, chains: chosen })),
      })),
    ),
  ),
);
const ofChart = (chart: (typeof charts)[number]): Shown => ({
  name: `the chart "${chart.slice_name}"`,
  words: statementOf(chart).replace(datasetOf(chart).sql, ''),
  rowsOf: (chosen) => ask(statementOf(chart, `chain_id in (${chosen.join(', ')})`)),
});

describe('two currencies are never added', () => {
  const shown = [...questions().map(ofQuestion), ...panels.flat(), ...charts.map(ofChart)];
  const withAmounts = shown.filter(({ words }) => amount.test(words));

  test.each(withAmounts)('by $name', async ({ words, rowsOf }) => {
    expect(words).toMatch(/native_symbol|currency/u);
    await withAndWithoutSymbols(async () => {
      // Rows of two chains are rows of one of them each.
      const [both, ...each] = await Promise.all([all, [optimism], [celo]].map(rowsOf));
      const known = new Set(each.flatMap(({ rows }) => rows.map((row) => JSON.stringify(row))));
      expect(each.map(({ rows }) => rows.length)).not.toContain(0);
      expect(both?.rows).not.toEqual([]);
      expect(both?.rows.filter((row) => !known.has(JSON.stringify(row)))).toEqual([]);
    });
  });

  test.each(
    datasets.flatMap(({ sql, table_name, metrics }) =>
      metrics
        .filter(({ expression }) => amount.test(expression))
        .map(({ expression }) => ({ expression, table_name, sql })),
    ),
  )('by $expression of $table_name, which is null', async ({ expression, sql }) => {
    const over = async (chosen: readonly number[]) => {
      const condition = `chain_id in (${chosen.join(', ')})`;
      const { rows } = await ask(
        `select ${expression} as total from (${sql}) as part where ${condition}`,
      );
      return rows[0]?.['total'];
    };
    await withAndWithoutSymbols(async () => {
      expect(await over([optimism])).not.toBeNull();
      expect(await over(all)).toBeNull();
    });
  });

  test('by a stacked chart', () => {
    // The pattern finds amounts: a view without them has been renamed.
    expect(withAmounts).toHaveLength(13);
    expect(questions().filter(({ chart }) => amount.test(chart?.y ?? ''))).toEqual([]);
    const stacked = Object.values(boards)
      .flatMap(({ panels: drawn }) => drawn ?? [])
      .filter((panel) => JSON.stringify(panel).includes('"mode":"normal"'));
    expect(stacked.filter((panel) => amount.test(JSON.stringify(panel)))).toEqual([]);
  });
});

/** Runs a check with the symbols of both chains, and again while neither symbol is known. */
async function withAndWithoutSymbols(check: () => Promise<void>): Promise<void> {
  await check();
  await database.query('update explorer.chains set native_symbol = null');
  try {
    await check();
  } finally {
    await database.query(
      `update explorer.chains set native_symbol = case chain_id when ${celo} then 'CELO' else 'ETH' end`,
    );
  }
}
