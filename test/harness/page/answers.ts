import type {
  QueriesDocument,
  QueryDocument,
  ThroughputDocument,
  TraceDocument,
} from '../../../src/status/endpoints.ts';
import { statusAt } from '../status.ts';

/** How a service may name things. */
export const hostile = `"><script>document.title = 'owned'</script><img src=x onerror="document.title='owned'">`;

/** When all documents are of. */
export const now = statusAt;

export const before = (seconds: number): string =>
  new Date(Date.parse(now) - seconds * 1_000).toISOString();
const day = 86_400;
const days = Array.from({ length: 30 }, (_, index) => before((29 - index) * day).slice(0, 10));

export const queries: QueriesDocument = {
  queries: [
    {
      name: 'operations-daily',
      topic: 'Operations',
      title: 'How many user operations are there a day?',
      sql: 'select day, chain_id, sum(operations) as operations\nfrom explorer.operations_daily\ngroup by 1, 2',
      chart: { kind: 'line', x: 'day', y: 'operations', series: 'chain_id', unit: 'operations' },
    },
    {
      name: 'entry-points',
      topic: 'Operations',
      title: 'What share has each version of the entry point?',
      sql: 'select 1',
      chart: { kind: 'shares', x: 'day', y: 'operations', series: 'version', unit: '%' },
    },
    {
      name: 'biggest-factories',
      topic: 'Wallets',
      title: 'Which factories made most accounts?',
      sql: 'select 1',
      chart: { kind: 'bars', x: 'name', y: 'total_accounts', series: null, unit: 'accounts' },
    },
    {
      name: 'what-is-missing',
      topic: 'Data',
      title: 'What is missing?',
      sql: 'select 1',
      chart: null,
    },
  ],
  dictionary: [
    {
      relation: 'explorer.user_operations',
      comment: 'One row for each ERC-4337 user operation.',
      columns: [{ name: 'hash', type: 'text', comment: `Hash of the operation. ${hostile}` }],
    },
  ],
};

/** The answer to a named query. */
export function answerTo(name: string): QueryDocument {
  const document = { name, is_cut: false, ms: 42 };
  if (name === 'biggest-factories') {
    const columns = [
      { name: 'name', type: 'text' },
      { name: 'total_accounts', type: 'bigint' },
    ];
    const rows = ['Coinbase Smart Wallet', 'Safe', hostile].map((each, at) => [
      each,
      4_120_345 - at * 1_700_000,
    ]);
    return { ...document, columns, rows };
  }
  const isShares = name === 'entry-points';
  const rows = days.flatMap((date, at) =>
    (isShares ? ['v0.6', 'v0.7', 'v0.8'] : [10, 42_220]).map((series, row) => [
      date,
      series,
      String(Math.round(14_000 / (row + 1) + 2_000 * Math.sin(at / 3 + row))),
    ]),
  );
  return {
    ...document,
    columns: [
      { name: 'day', type: 'date' },
      isShares ? { name: 'version', type: 'text' } : { name: 'chain_id', type: 'bigint' },
      { name: 'operations', type: 'bigint' },
    ],
    rows,
  };
}

export const trace: TraceDocument = {
  term: '128400112',
  is: 'height',
  hint: null,
  rows: [
    {
      relation: 'explorer.user_operations',
      key: '0x5e1f…, chain 10',
      columns: [
        { name: 'block_number', value: '128400112' },
        { name: 'sender_name', value: hostile },
        { name: 'fee', value: '131283471283' },
      ],
      page: {
        id: 24_310,
        walk_id: 41,
        feed: '10/user-operations',
        sequence: 12,
        fetched_at: before(3 * day),
        cursor: 'page_token=128400200',
        body: JSON.stringify({ items: [{ name: hostile }] }),
      },
      changes: [{ at: before(day), sentence: 'status changed from pending to included.' }],
    },
  ],
};

export const throughput: ThroughputDocument = {
  from: before(day),
  to: now,
  bin_s: 900,
  bins: Array.from({ length: 96 }, (_, index) => ({
    at: before(day - index * 900),
    pages: 12,
    rows: Math.round(400 + 300 * Math.sin(index / 9) + 90 * Math.sin(index * 2)),
    credits: 60,
    lag_s:
      index % 3 === 0 ? 60 + 40 * Math.sin(index / 5) + (index > 60 && index < 70 ? 900 : 0) : null,
  })),
};
