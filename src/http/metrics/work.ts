import type { Counter, Histogram } from 'prom-client';
import type { FailureClass } from '../../failure.ts';
import { lanes } from '../../lists/tables.ts';
import { shapeOf } from '../../load/upsert.ts';
import { operationNames, operations } from '../../operations/index.ts';
import { signals } from '../../signals.ts';

/** What is counted of the process's own work. */
export interface WorkMetrics {
  readonly requests: Counter;
  readonly requestSeconds: Histogram;
  readonly pages: Counter;
  readonly rows: Counter;
  readonly transactionSeconds: Histogram;
  readonly poolSeconds: Histogram;
}

/** How a request can end. */
const outcomes: readonly ('ok' | FailureClass)[] = [
  'ok',
  'unreachable',
  'throttled',
  'out-of-credits',
  'unauthorized',
  'key-missing',
  'unsupported',
  'unknown-chain',
  'rejected',
  'cursor-refused',
  'envelope-invalid',
];

/**
 * Counts what the process does from now on, all of its engines together.
 *
 * @returns ends that
 */
export function countWork(metrics: WorkMetrics): () => void {
  const { requests, requestSeconds, pages, rows, transactionSeconds, poolSeconds } = metrics;
  beginAtNothing(metrics);
  const ends = [
    signals.request.listen(({ outcome, ms }) => {
      requests.inc({ class: outcome });
      requestSeconds.observe({ class: outcome }, ms / 1000);
    }),
    signals.miss.listen(({ lane }) => pages.inc({ lane, outcome: 'failed' })),
    signals.commit.listen(({ lane, table, changing, inserted, changed, ms, ...commit }) => {
      pages.inc({ lane, outcome: 'changed' }, changing);
      pages.inc({ lane, outcome: 'unchanged' }, commit.pages - changing);
      rows.inc({ table, change: 'inserted' }, inserted);
      rows.inc({ table, change: 'changed' }, changed);
      transactionSeconds.observe(ms / 1000);
    }),
    signals.poolWait.listen(({ name, ms }) =>
      poolSeconds.observe({ pool: poolOf(name) }, ms / 1000),
    ),
  ];
  return () => {
    for (const end of ends) end();
  };
}

/** A rate over a counter that begins at 1 would miss that one. */
function beginAtNothing({ requests, pages, rows }: WorkMetrics): void {
  for (const outcome of outcomes) requests.inc({ class: outcome }, 0);
  for (const lane of lanes) {
    for (const outcome of ['changed', 'unchanged', 'failed']) pages.inc({ lane, outcome }, 0);
  }
  for (const name of operationNames) {
    const table = shapeOf(operations[name].table).name;
    for (const change of ['inserted', 'changed']) rows.inc({ table, change }, 0);
  }
}

/** What our sessions are called begins with the program's name; those that write pages have no other. */
const poolOf = (name: string): string => name.replace(/^explorer-etl ?/u, '') || 'work';
