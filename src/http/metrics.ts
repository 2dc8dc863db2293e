import type { Handler } from 'hono';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { failures } from '../failure.ts';
import { operationNames, operations } from '../lists/registry.ts';
import { lanes } from '../lists/tables.ts';
import { shapeOf } from '../load/upsert.ts';
import { signals } from '../signals.ts';
import type { StatusDocument } from '../status/schema.ts';
import { metricsOf } from './status-metrics.ts';

/** What Prometheus reads. */
export interface Metrics {
  readonly handler: Handler;
  /** Counts no more. */
  close(): void;
}

/** How often the delay of the event loop is measured, in ms: the default of 10 wakes an idle process. */
const loopPrecisionMs = 100;

/** Gauges of prom-client that are named like counters, which checks of the format refuse. */
const misnamed = ['nodejs_active_handles', 'nodejs_active_requests', 'nodejs_active_resources'];

/**
 * Metrics of this process, and of the database as it sees it.
 *
 * @param status null: it cannot be read in time; then the process alone is described
 */
export function createMetrics(
  status: () => Promise<StatusDocument | null>,
  version: string,
): Metrics {
  const own = new Registry();
  collectDefaultMetrics({ register: own, eventLoopMonitoringPrecision: loopPrecisionMs });
  for (const name of misnamed) own.removeSingleMetric(`${name}_total`);
  const built = {
    name: 'explorer_etl_build_info',
    help: 'Always 1; the labels have the version of the program and of Node.',
    labelNames: ['version', 'node'],
    registers: [own],
  };
  new Gauge(built).set({ version, node: process.version }, 1);
  const stop = countWork(own);
  return {
    async handler(context) {
      const known = await status();
      const all = Registry.merge([own, ...(known === null ? [] : [metricsOf(known)])]);
      return context.body(await all.metrics(), 200, { 'content-type': own.contentType });
    },
    close() {
      stop();
      own.clear();
    },
  };
}

/** Counts what the process does from now on, all of its engines together. @returns ends that */
function countWork(registry: Registry): () => void {
  const { requests, requestSeconds, pages, rows, transactionSeconds, poolSeconds } =
    workMetrics(registry);
  const ends = [
    signals.request.subscribe(({ outcome, ms }) => {
      requests.inc({ class: outcome });
      requestSeconds.observe({ class: outcome }, ms / 1000);
    }),
    signals.miss.subscribe(({ lane }) => pages.inc({ lane, outcome: 'failed' })),
    signals.commit.subscribe(({ lane, table, changing, inserted, changed, ms, ...commit }) => {
      pages.inc({ lane, outcome: 'changed' }, changing);
      pages.inc({ lane, outcome: 'unchanged' }, commit.pages - changing);
      rows.inc({ table, change: 'inserted' }, inserted);
      rows.inc({ table, change: 'changed' }, changed);
      transactionSeconds.observe(ms / 1000);
    }),
    signals.poolWait.subscribe(({ name, ms }) => {
      // The names of our sessions begin with the program's; those that write pages have no other.
      const pool = name.replace(/^explorer-etl ?/u, '') || 'work';
      poolSeconds.observe({ pool }, ms / 1000);
    }),
  ];
  return () => {
    for (const end of ends) end();
  };
}

function workMetrics(registry: Registry) {
  const counter = (name: string, help: string, ...labelNames: string[]) =>
    new Counter({ name: `explorer_etl_${name}_total`, help, labelNames, registers: [registry] });
  const seconds = (name: string, help: string, buckets: number[], ...labelNames: string[]) => {
    const full = `explorer_etl_${name}_seconds`;
    return new Histogram({ name: full, help, buckets, labelNames, registers: [registry] });
  };
  const network = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120];
  const local = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 30];
  const requests = counter('requests', 'Requests, each attempt by itself.', 'class');
  const pages = counter('pages', 'Pages: a changed one wrote rows.', 'lane', 'outcome');
  const rows = counter('rows', "Rows of the lists' own tables.", 'table', 'change');
  // A rate over a counter that begins at 1 would miss that one.
  for (const outcome of ['ok', ...Object.keys(failures)]) requests.inc({ class: outcome }, 0);
  for (const lane of lanes) {
    for (const outcome of ['changed', 'unchanged', 'failed']) pages.inc({ lane, outcome }, 0);
  }
  for (const name of operationNames) {
    const table = shapeOf(operations[name].table).name;
    for (const change of ['inserted', 'changed']) rows.inc({ table, change }, 0);
  }
  return {
    requests,
    requestSeconds: seconds('request_duration', 'Requests, to the last byte.', network, 'class'),
    pages,
    rows,
    transactionSeconds: seconds('transaction_duration', 'Transactions that commit pages.', local),
    poolSeconds: seconds('pool_wait', 'Waits for a connection to the database.', local, 'pool'),
  };
}
