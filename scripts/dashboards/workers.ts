import { dashboard, series } from './panels.ts';

const rate = (metric: string, by: string) =>
  `sum by (${by}) (rate(${metric}{job=~"explorer-etl.*"}[$__rate_interval]))`;
const slowest = (metric: string) =>
  `histogram_quantile(0.95, ${rate(`${metric}_bucket`, 'job, le')})`;
/** A fact of the database, which each process reports. */
const fact = (metric: string, by = 'job, chain, list') => `max by (${by}) (${metric})`;
const ofList = '{{chain}}/{{list}}';

/** Of the metrics in docs/metrics.md. */
export const workers = dashboard(
  {
    uid: 'workers',
    title: 'Workers',
    about: 'How the processes work: requests, pages, rows, credits and memory, from Prometheus.',
    from: 'now-6h',
    panels: [
      series(
        { title: 'Requests a second', about: 'Each attempt, by how it ended.' },
        rate('explorer_etl_requests_total', 'class'),
        '{{class}}',
      ),
      series(
        { title: 'Slow requests', about: 'One of twenty takes longer.', unit: 's' },
        slowest('explorer_etl_request_duration_seconds'),
        '{{job}}',
      ),
      series(
        { title: 'Rows a second', about: 'Added and changed, by table.' },
        rate('explorer_etl_rows_total', 'table, change'),
        '{{table}} {{change}}',
      ),
      series(
        { title: 'Slow commits', about: 'One of twenty takes longer.', unit: 's' },
        slowest('explorer_etl_transaction_duration_seconds'),
        '{{job}}',
      ),
      series(
        { title: 'Verified', about: 'Part of each list.', unit: 'percentunit' },
        fact('explorer_etl_verified_ratio'),
        ofList,
      ),
      series(
        { title: 'Lag', about: 'Age of the newest item, or of the last ranking.', unit: 's' },
        fact('explorer_etl_feed_lag_seconds'),
        ofList,
      ),
      series(
        { title: 'Requests that history takes', about: 'What is left of each list.' },
        fact('explorer_etl_history_requests_left'),
        ofList,
      ),
      series(
        { title: 'Credits spent today', about: 'Of all keys, UTC.' },
        fact('explorer_etl_budget_credits_spent', 'job'),
        '{{job}}',
      ),
      series(
        { title: 'Memory', about: 'Resident, of each process.', unit: 'bytes' },
        'process_resident_memory_bytes{job=~"explorer-etl.*"}',
        '{{instance}}',
      ),
      series(
        { title: 'Processor', about: 'Seconds a second, of each process.' },
        'rate(process_cpu_seconds_total{job=~"explorer-etl.*"}[$__rate_interval])',
        '{{instance}}',
      ),
    ],
  },
  'prometheus',
);
