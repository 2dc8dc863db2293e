import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { StatusDocument } from '../documents/status.ts';
import { isSeen, unreadableStatus } from '../report/status-document.ts';
import type { LaneHolder } from '../sync/takeover.ts';
import { type Definition, definitions, type MetricName } from './metrics/definitions.ts';
import { factsOf } from './metrics/facts.ts';
import { recent } from './metrics/recent.ts';
import { countWork } from './metrics/work.ts';

export interface MetricsOptions {
  /** The newest snapshot; where the database is away it says so. It rests between two readings. */
  readonly snapshot: () => Promise<StatusDocument>;
  /** Reads how many jobs wait; asked for only while the database is there, and seldom. */
  readonly queue: () => Promise<readonly LaneHolder[]>;
  readonly version: string;
  /** Monotonic, in ms. */
  readonly now: () => number;
}

/** What Prometheus reads. */
export interface Metrics {
  readonly contentType: string;
  /** All metrics, as text. Also where the database is away: then without what it knows. */
  scrape(): Promise<string>;
  /** Counts no more. */
  close(): void;
}

/** How long the depth of the queue is remembered, in ms: several servers may scrape. */
const queueRestMs = 3_000;

/**
 * How often the delay of the event loop is looked at, in ms. The default, 10, wakes an idle process a hundred
 * times a second.
 */
const loopPrecisionMs = 100;

/** Gauges of prom-client with the ending of counters, which checks of the format rightly refuse. */
const misnamed = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
];

/** Metrics of this process, and of the database as it sees it, in a registry of its own. */
export function createMetrics({ snapshot, queue, version, now }: MetricsOptions): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: loopPrecisionMs });
  for (const name of misnamed) registry.removeSingleMetric(name);
  const gauges = new Map<MetricName, Gauge>();
  for (const [name, definition] of Object.entries(definitions) as [MetricName, Definition][]) {
    if (definition.type === 'gauge') gauges.set(name, new Gauge(configOf(name, registry)));
  }
  const stop = countWork({
    requests: new Counter(configOf('explorer_etl_requests_total', registry)),
    requestSeconds: new Histogram(configOf('explorer_etl_request_duration_seconds', registry)),
    pages: new Counter(configOf('explorer_etl_pages_total', registry)),
    rows: new Counter(configOf('explorer_etl_rows_total', registry)),
    transactionSeconds: new Histogram(
      configOf('explorer_etl_transaction_duration_seconds', registry),
    ),
    poolSeconds: new Histogram(configOf('explorer_etl_pool_wait_seconds', registry)),
  });
  const facts = recent(snapshot, unreadableStatus(new Date(), 'reading it takes too long'), now);
  const depths = recent<readonly LaneHolder[] | null>(resting(queue, queueRestMs, now), null, now);
  return {
    contentType: registry.contentType,
    async scrape() {
      const status = await facts();
      const waiting = isSeen(status) ? await depths() : null;
      // All at once: a scrape at the same time sees the facts of before or those of now.
      for (const gauge of gauges.values()) {
        gauge.reset();
        // A gauge without labels would stay, as 0.
        gauge.remove({});
      }
      gauges.get('explorer_etl_build_info')?.set({ version, node: process.version }, 1);
      for (const { name, labels, value } of factsOf(status, waiting)) {
        gauges.get(name)?.set(labels, value);
      }
      return registry.metrics();
    },
    close() {
      stop();
      registry.clear();
    },
  };
}

function configOf(name: MetricName, registry: Registry) {
  const { help, labels, buckets }: Definition = definitions[name];
  return {
    name,
    help,
    labelNames: [...labels],
    registers: [registry],
    ...(buckets !== undefined && { buckets: [...buckets] }),
  };
}

/** What was read is told again until so long after. */
function resting<Value>(
  read: () => Promise<Value>,
  restMs: number,
  now: () => number,
): () => Promise<Value> {
  let last: { readonly value: Promise<Value>; readonly atMs: number } | null = null;
  return () => {
    if (last === null || now() - last.atMs > restMs) last = { value: read(), atMs: now() };
    return last.value;
  };
}
