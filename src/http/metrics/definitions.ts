/** How the values that several processes tell become one: what they all see, or what each did itself. */
export type Aggregate = 'max by' | 'sum by' | 'each';

/** A metric as programs and people are told of it; docs/metrics.md is held against these. */
export interface Definition {
  readonly type: 'gauge' | 'counter' | 'histogram';
  readonly help: string;
  readonly labels: readonly string[];
  readonly aggregate: Aggregate;
  /** Upper bounds of a histogram's buckets, in seconds. */
  readonly buckets?: readonly number[];
}

const ofFeed = ['chain', 'list'] as const;

/** Of the database: the same from every process. What is not known is not told. */
const shared = (help: string, labels: readonly string[] = []): Definition => ({
  type: 'gauge',
  help,
  labels,
  aggregate: 'max by',
});

/** Counted since the process began. */
const own = (help: string, labels: readonly string[] = []): Definition => ({
  type: 'counter',
  help,
  labels,
  aggregate: 'sum by',
});

const durations = (
  help: string,
  labels: readonly string[],
  buckets: readonly number[],
): Definition => ({ type: 'histogram', help, labels, aggregate: 'sum by', buckets });

/** Every metric of our own. Names are public: dashboards and alerts of others rest on them. */
export const definitions = {
  explorer_etl_database_up: {
    type: 'gauge',
    help: 'Whether the database answers this process: 1, or 0; absent where nobody knows.',
    labels: [],
    aggregate: 'each',
  },
  explorer_etl_build_info: {
    type: 'gauge',
    help: 'Always 1; the labels tell the version of the program and of Node.',
    labels: ['version', 'node'],
    aggregate: 'each',
  },
  explorer_etl_status_timestamp_seconds: shared(
    'When the facts of the database that follow were read, Unix time.',
  ),
  explorer_etl_verdict: shared('How all is: 1 for the present verdict, 0 for each other.', [
    'kind',
  ]),
  explorer_etl_reasons: shared('Reasons of the verdict, by kind; 0 where there is none.', ['kind']),
  explorer_etl_feed_reason: shared(
    'Always 1, for each reason of the verdict that names the feed; gone with the reason.',
    [...ofFeed, 'kind'],
  ),
  explorer_etl_feed_state: shared('Always 1, for the state that the feed is in.', [
    ...ofFeed,
    'state',
  ]),
  explorer_etl_feed_lag_seconds: shared(
    "Age of the newest item, of the newest batch's last block, or of the last ranking. A quiet chain lags too.",
    ofFeed,
  ),
  explorer_etl_feed_data_age_seconds: shared(
    'Age of the newest item that others confirm, at the last look. Absent: not judged.',
    ofFeed,
  ),
  explorer_etl_feed_data_age_limit_seconds: shared(
    'How old that item may be, by the usual interval of the list. Absent: not judged.',
    ofFeed,
  ),
  explorer_etl_feed_look_age_seconds: shared(
    'Since the last run began that went to the head of the list and finished.',
    ofFeed,
  ),
  explorer_etl_freshness_objective_seconds: shared(
    'How old that look may be. Absent: nothing is to come.',
    ofFeed,
  ),
  explorer_etl_covered_ratio: shared(
    'Part of the list that is proved complete, 0 to 1. Absent: nobody knows how long it is.',
    ofFeed,
  ),
  explorer_etl_gaps: shared(
    'Holes in what is proved, of lists in the order of blocks or batches.',
    ofFeed,
  ),
  explorer_etl_missing: shared('Blocks, or batches, that are not read though wanted.', ofFeed),
  explorer_etl_history_requests_left: shared(
    'Requests that its history still takes: as many as are likely, or at most. Absent: not known.',
    ofFeed,
  ),
  explorer_etl_quarantine_items: shared('Items that could not become rows.', ofFeed),
  explorer_etl_drift_kinds: shared(
    'Ways in which its items differ from the specification.',
    ofFeed,
  ),
  explorer_etl_archive_bytes: shared('Bytes of its archived pages, compressed.', ofFeed),
  explorer_etl_last_page_timestamp_seconds: shared(
    'When its last page was committed, Unix time.',
    ofFeed,
  ),
  explorer_etl_next_poll_timestamp_seconds: shared(
    'When it is polled next, Unix time. Absent: nobody works by schedules.',
    ofFeed,
  ),
  explorer_etl_workers: shared(
    'Processes that work: start by schedules; once is sync, backfill, repair. Absent on a standby.',
    ['post'],
  ),
  explorer_etl_queue_depth: shared(
    'Lanes with an open run: queued waits for a worker, resting is not due yet, active is worked on.',
    ['state'],
  ),
  explorer_etl_budget_credits_spent: shared('Credits that all keys spent today (UTC).'),
  explorer_etl_budget_credits_remaining: shared(
    'Credits that may still be spent today. Absent: no limit is known.',
  ),
  explorer_etl_budget_used_ratio: shared(
    "Part of the day's credits that is spent, 0 to 1. Absent: no limit is known.",
  ),
  explorer_etl_credits_last_until_seconds: shared(
    'When the credits end because polls need more, Unix time; where they are spent, now. Absent: not before midnight UTC, or not known.',
  ),
  explorer_etl_requests_total: own('Requests, each attempt by itself, by how they ended.', [
    'class',
  ]),
  explorer_etl_request_duration_seconds: durations(
    'From sending a request to the last byte of the answer, or to its failure.',
    ['class'],
    [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120],
  ),
  explorer_etl_pages_total: own(
    'Pages: changed ones added or changed rows, unchanged ones did not, failed ones did not come.',
    ['lane', 'outcome'],
  ),
  explorer_etl_rows_total: own(
    "Rows of the lists' own tables that were inserted or changed; not their children, nor addresses.",
    ['table', 'change'],
  ),
  explorer_etl_transaction_duration_seconds: durations(
    'Transactions that commit pages, from begin to the answer of the commit.',
    [],
    [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 30],
  ),
  explorer_etl_pool_wait_seconds: durations(
    'Waits for a connection to the database.',
    ['pool'],
    [0.001, 0.005, 0.025, 0.1, 0.5, 1, 5, 10],
  ),
} as const satisfies Readonly<Record<string, Definition>>;

export type MetricName = keyof typeof definitions;
