import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { boards } from '../../../scripts/dashboards/boards.ts';
import { panelsOf, sent } from '../../../scripts/dashboards/written.ts';
import { questions, statementOf as query, type Question } from '../../../src/query/question.ts';
import { startInstantMs } from '../../../simulator/index.ts';
import type { TestDatabase } from '../../harness/database.ts';
import { chains as simulated, copiedForAnalysts } from './copied.ts';
import { charts, datasetOf, datasets, statementOf } from './superset-files.ts';

/** The columns and sums that hold amounts in a chain's own currency. */
const amount =
  /\b(?:fees?|mean_fee|burnt|burnt_fees|transaction_fees|reward|priority_fee)\b|_native\b|_eth\b/u;

const dayMs = 86_400_000;
const [optimism, celo] = [10, 42220];
const all = simulated.map(({ id }) => id);

let database: TestDatabase;
beforeAll(async () => {
  database = await copiedForAnalysts();
});
afterAll(() => database?.drop());

interface Answer {
  readonly columns: readonly string[];
  /** As JSON, so that equal rows are equal texts. */
  readonly rows: readonly string[];
}

type Ask = (chains: readonly number[]) => Promise<Answer>;

async function answer(text: string, values: readonly (string | null)[] = []): Promise<Answer> {
  const { fields, rows } = await database.pool.query<object>(text, [...values]);
  return {
    columns: fields.map(({ name }) => name),
    rows: rows.map((row) => JSON.stringify(row)),
  };
}

/** Rows of two chains are rows of one of them each: a sum over both is in neither. */
async function expectApart(ask: Ask): Promise<void> {
  const both = await ask([optimism, celo]);
  const [first, second] = [await ask([optimism]), await ask([celo])];
  expect(first.rows.length).toBeGreaterThan(0);
  expect(second.rows.length).toBeGreaterThan(0);
  const known = new Set([...first.rows, ...second.rows]);
  expect(both.rows.filter((row) => !known.has(row))).toEqual([]);
  expect(both.rows.length).toBeGreaterThan(0);
}

/** Runs a check with the symbols of both chains, and again while neither symbol is known. */
async function withAndWithoutSymbols(check: () => Promise<void>): Promise<void> {
  await check();
  const { rows } = await database.pool.query<{ chain_id: string; native_symbol: string }>(
    'select chain_id, native_symbol from explorer.chains',
  );
  await database.pool.query('update explorer.chains set native_symbol = null');
  try {
    await check();
  } finally {
    for (const { chain_id: id, native_symbol: symbol } of rows) {
      await database.pool.query(
        'update explorer.chains set native_symbol = $2 where chain_id = $1',
        [id, symbol],
      );
    }
  }
}

const view = {
  from: new Date(startInstantMs - 30 * dayMs),
  to: new Date(Date.now() + dayMs),
};

const panels = (
  await Promise.all(
    Object.keys(boards).map(async (board) =>
      (await panelsOf(board)).panels.flatMap(({ title, targets }) =>
        targets.map(({ rawSql }) => ({ board, title, rawSql })),
      ),
    ),
  )
).flat();

/** What a chart asks for, in words: its columns and the expressions of its metrics. */
const wordsOf = (chart: (typeof charts)[number]): string =>
  statementOf(chart).replace(datasetOf(chart).sql, '');

const withAmounts = {
  questions: questions().filter(({ text }) => amount.test(text)),
  panels: panels.filter(({ rawSql }) => amount.test(rawSql)),
  charts: charts.filter((chart) => amount.test(wordsOf(chart))),
};

test('a chain is stored with its symbol, decimals and explorer', async () => {
  const { rows } = await database.pool.query(
    'select chain_id::int, native_symbol, native_decimals::int, explorer_url from explorer.chains order by chain_id',
  );
  expect(rows).toEqual([
    {
      chain_id: optimism,
      native_symbol: 'ETH',
      native_decimals: 18,
      explorer_url: 'https://explorer.optimism.io',
    },
    {
      chain_id: celo,
      native_symbol: 'CELO',
      native_decimals: 18,
      explorer_url: 'https://celo.blockscout.com',
    },
  ]);
});

describe('views', () => {
  test('name no amount after a currency, and have the symbol beside each amount', async () => {
    const { rows } = await database.pool.query<{ relation: string; columns: string[] }>(
      `select table_name::text as relation, array_agg(column_name::text order by ordinal_position) as columns
       from information_schema.columns where table_schema = 'explorer' group by 1 order by 1`,
    );
    const found = rows.filter(({ columns }) => columns.some((name) => name.endsWith('_native')));
    expect(found.map(({ relation }) => relation)).toEqual([
      'batch_stats',
      'chain_daily',
      'operations_daily',
      'operations_enriched',
      'senders',
    ]);
    for (const { relation, columns } of found) expect(columns, relation).toContain('native_symbol');
    expect(rows.flatMap(({ columns }) => columns).filter((name) => name.endsWith('_eth'))).toEqual(
      [],
    );
  });

  test.each(['batch_stats', 'chain_daily', 'operations_daily', 'operations_enriched', 'senders'])(
    '%s has the symbol of its chain in each row',
    async (relation) => {
      const { rows } = await database.pool.query(
        `select chain_id::int, native_symbol from explorer.${relation} group by 1, 2 order by 1`,
      );
      expect(rows).toEqual([
        { chain_id: optimism, native_symbol: 'ETH' },
        { chain_id: celo, native_symbol: 'CELO' },
      ]);
    },
  );

  test('count amounts by the decimals of their chain', async () => {
    await database.pool.query(
      'update explorer.chains set native_decimals = 6 where chain_id = 42220',
    );
    const { rows } = await database.pool.query(
      `select chain_id::int, count(*) filter (where fee_native * power(10::numeric, native_decimals) <> fee)::int as wrong,
              count(fee_native) > 0 as has_some
       from explorer.operations_enriched join explorer.chains using (chain_id)
       group by chain_id order by chain_id`,
    );
    await database.pool.query('update explorer.chains set native_decimals = 18');
    expect(rows).toEqual([
      { chain_id: optimism, wrong: 0, has_some: true },
      { chain_id: celo, wrong: 0, has_some: true },
    ]);
  });
});

describe('questions', () => {
  const ask =
    (question: Question): Ask =>
    (chains) => {
      const names = new Set(question.parameters.map(({ name }) => name));
      const { text, values } = query(question, {
        ...(chains.length === 1 && { chain: chains[0] }),
        ...(names.has('days') && { days: 3650 }),
        ...(names.has('limit') && { limit: 10_000 }),
      });
      return answer(text, values);
    };

  test.each(withAmounts.questions)('$name adds no two currencies', async (question) => {
    expect((await ask(question)(all)).columns).toContain('native_symbol');
    await withAndWithoutSymbols(() => expectApart(ask(question)));
  });

  test.each(questions())('the chart of $name draws no amounts of several chains', ({ chart }) => {
    expect(chart?.y ?? '').not.toMatch(amount);
  });

  test('three of them have amounts', () => {
    expect(withAmounts.questions.map(({ name }) => name)).toEqual([
      'chain-daily',
      'operations-daily',
      'top-senders',
    ]);
  });
});

describe('Grafana', () => {
  test.each(withAmounts.panels)('"$title" of $board adds no two currencies', async ({ rawSql }) => {
    const ask: Ask = (chains) => answer(sent(rawSql, { ...view, chains }));
    expect(rawSql).toContain('native_symbol');
    await withAndWithoutSymbols(() => expectApart(ask));
  });

  test('stacks no amounts on each other', async () => {
    for (const { title } of withAmounts.panels) {
      const board = Object.values(boards).find(({ panels: shown }) =>
        shown?.some((panel) => panel.title === title),
      );
      const panel = board?.panels?.find((one) => one.title === title);
      expect(JSON.stringify(panel), title).not.toContain('"mode":"normal"');
    }
  });

  test('five of its panels have amounts', () => {
    expect(withAmounts.panels).toHaveLength(5);
  });
});

describe('Superset', () => {
  test.each(withAmounts.charts)('"$slice_name" adds no two currencies', async (chart) => {
    const ask: Ask = (chains) => answer(statementOf(chart, `chain_id in (${chains.join(', ')})`));
    expect(wordsOf(chart)).toMatch(/native_symbol|currency/u);
    await withAndWithoutSymbols(() => expectApart(ask));
  });

  test('four of its charts have amounts', () => {
    expect(withAmounts.charts).toHaveLength(4);
  });

  const sums = datasets.flatMap((dataset) =>
    dataset.metrics
      .filter(({ expression }) => amount.test(expression))
      .map((metric) => ({ ...metric, dataset })),
  );

  test.each(sums)(
    '$metric_name of $dataset.table_name is null over two currencies, however it is grouped',
    async ({ expression, dataset }) => {
      const over = (chains: readonly number[]) =>
        database.pool.query<{ total: string | null }>(
          `select ${expression} as total from (${dataset.sql}) as part where chain_id in (${chains.join(', ')})`,
        );
      await withAndWithoutSymbols(async () => {
        expect((await over([optimism])).rows[0]?.total).not.toBeNull();
        expect((await over(all)).rows).toEqual([{ total: null }]);
      });
    },
  );
});
