import type { Context } from 'hono';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { failures } from '../failure.ts';
import { operationNames, operations } from '../lists/registry.ts';
import { lanes } from '../lists/tables.ts';
import { shapeOf } from '../load/upsert.ts';
import { type Attempted, type PageCommitted, type Requested, signals } from '../signals.ts';
import { overallStates, reasonCodes, type StatusDocument } from '../status/schema.ts';
import { isKnown } from '../status/status.ts';

/** Interval to measure the event loop's delay, in ms: the default of 10 wakes an idle process. */
const loopPrecisionMs = 100;

/** Gauges of prom-client with names of counters, which format checks refuse. */
const misnamed = ['nodejs_active_handles', 'nodejs_active_requests', 'nodejs_active_resources'];

/** Metrics of this process and of the database; `status` null: only those of the process. */
export function createMetrics(status: () => Promise<StatusDocument | null>, version: string) {
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
  const render = async () => {
    const known = await status();
    return Registry.merge([own, ...(known === null ? [] : [metricsOf(known)])]).metrics();
  };
  let rendering: Promise<string> | null = null;
  return {
    /** Renders once for all requests at once: it takes some ms. */
    handler: async (context: Context) => {
      rendering ??= render().finally(() => (rendering = null));
      return context.body(await rendering, 200, { 'content-type': own.contentType });
    },
    close() {
      stop();
      own.clear();
    },
  };
}

/** Counts the work of all engines of the process. @returns a function that ends it */
function countWork(registry: Registry): () => void {
  const { requests, requestSeconds, pages, rows, transactionSeconds } = workMetrics(registry);
  const onRequest = ({ outcome, ms }: Attempted) => {
    requests.inc({ class: outcome });
    requestSeconds.observe({ class: outcome }, ms / 1000);
  };
  const onMiss = ({ lane }: Requested) => pages.inc({ lane, outcome: 'failed' });
  const onCommit = ({ lane, table, changing, inserted, changed, ms, ...commit }: PageCommitted) => {
    pages.inc({ lane, outcome: 'changed' }, changing);
    pages.inc({ lane, outcome: 'unchanged' }, commit.pages - changing);
    rows.inc({ table, change: 'inserted' }, inserted);
    rows.inc({ table, change: 'changed' }, changed);
    transactionSeconds.observe(ms / 1000);
  };
  signals.on('request', onRequest).on('miss', onMiss).on('commit', onCommit);
  return () => void signals.off('request', onRequest).off('miss', onMiss).off('commit', onCommit);
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
  // A rate over a counter that starts at 1 would miss the first event.
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
  };
}

/** The status as gauges with public names. Unknown values have no series: 0 would be wrong. */
function metricsOf(status: StatusDocument): Registry {
  const registry = new Registry();
  const add = (
    name: string,
    help: string,
    value: number | null | undefined,
    labels: Readonly<Record<string, string>> = {},
  ) => {
    if (value === null || value === undefined) return;
    const full = `explorer_etl_${name}`;
    const known = registry.getSingleMetric(full);
    const options = { name: full, help, labelNames: Object.keys(labels), registers: [registry] };
    const gauge = known instanceof Gauge ? known : new Gauge(options);
    gauge.set(labels, value);
  };
  const { overall, reasons, credits, workers, feeds } = status;
  add('database_up', 'Whether the database answers this process.', Number(isKnown(status)));
  for (const state of overallStates) {
    add('overall_state', '1 for the present one.', Number(state === overall.state), { state });
  }
  for (const code of reasonCodes) {
    const count = reasons.filter((reason) => reason.code === code).length;
    add('reasons', 'Reasons for the overall state.', count, { code });
  }
  if (!isKnown(status)) return registry;
  add('status_timestamp_seconds', 'When the status was read, Unix time.', unix(status.as_of));
  for (const [kind, count] of Object.entries(workers ?? {})) {
    add('workers', 'Processes that work: start by schedules, once for a command.', count, { kind });
  }
  const allLanes = feeds.flatMap((feed) => feed.lanes);
  for (const [state, own] of Map.groupBy(allLanes, (lane) => lane.state)) {
    add('lanes', 'Lanes of feeds.', own.length, { state });
  }
  const { spent, left } = credits;
  const used = left === null ? null : Math.min(1, spent / Math.max(1, spent + left));
  add('budget_credits_spent', 'Credits that the keys in use spent today (UTC).', spent);
  add('budget_credits_remaining', 'Credits that are left today.', left);
  add('budget_used_ratio', "Part of the day's credits that is spent, 0 to 1.", used);
  add('credits_last_until_seconds', 'When polls run out of credits, Unix time.', endOf(status));
  for (const { code, feeds: named } of reasons) {
    for (const feed of named) {
      add('feed_reason', '1 for each reason that names the feed.', 1, { ...labelsOf(feed), code });
    }
  }
  for (const { feed, state, verified, poll, left: remaining, newest_item: item, ...own } of feeds) {
    const labels = labelsOf(feed);
    const ofFeed = (name: string, help: string, value: number | null | undefined) =>
      add(name, help, value, labels);
    const requests = remaining.requests.likely ?? remaining.requests.most;
    add('feed_state', '1 for the state of the feed.', 1, { ...labels, state });
    ofFeed('feed_lag_seconds', 'Age of the newest item, or of the last ranking.', own.lag_s);
    ofFeed('feed_item_age_seconds', 'Age of the newest confirmed item when polled.', item?.age_s);
    ofFeed('feed_item_age_limit_seconds', 'How old that item may be.', item?.limit_s);
    ofFeed('feed_poll_age_seconds', 'Time since the last finished poll.', poll.age_s);
    ofFeed('feed_poll_target_seconds', 'How old that poll may be.', poll.target?.seconds);
    ofFeed('verified_ratio', 'Part of the list that is verified, 0 to 1.', verified.share);
    if (own.unit !== 'ranks') {
      const missing = verified.batches?.unread ?? verified.missing;
      ofFeed('gaps', 'Ranges that are wanted and not read.', verified.gaps);
      ofFeed('missing', 'Blocks, or batches, in them.', missing);
    }
    ofFeed('history_requests_left', 'Requests that the history takes.', requests);
    ofFeed('quarantine_items', 'Items in quarantine.', own.quarantined);
    ofFeed('schema_drift', 'Ways in which items differ from the specification.', own.schema_drift);
    ofFeed('archive_bytes', 'Bytes of archived pages, compressed.', own.archived_bytes);
    ofFeed('last_page_timestamp_seconds', 'When the last page came.', unix(own.last_page_at));
    ofFeed('next_poll_timestamp_seconds', 'When the next poll is due.', unix(poll.next_at));
  }
  return registry;
}

const unix = (time: string | null): number | null =>
  time === null ? null : Date.parse(time) / 1000;

function labelsOf(feed: string): { readonly chain: string; readonly list: string } {
  const at = feed.indexOf('/');
  return { chain: feed.slice(0, at), list: feed.slice(at + 1) };
}

function endOf({ credits: { forecast }, as_of }: StatusDocument): number | null {
  if (forecast.kind === 'lasts-until') return unix(forecast.at);
  return forecast.kind === 'spent' ? unix(as_of) : null;
}
