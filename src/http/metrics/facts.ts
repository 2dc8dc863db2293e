import type { StatusDocument } from '../../documents/status.ts';
import { verdict } from '../../documents/verdict.ts';
import { isSeen } from '../../report/status-document.ts';
import { verdictOf } from '../../report/verdict.ts';
import type { LaneHolder } from '../../sync/takeover.ts';
import type { MetricName } from './definitions.ts';

/** A value of a metric, and whose. */
export interface Sample {
  readonly name: MetricName;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

type Feed = StatusDocument['feeds'][number];

/**
 * What the database tells, as samples. What is not known is none: a 0 would be a claim. Pure.
 *
 * @param queue null where it could not be read
 */
export function factsOf(
  status: StatusDocument,
  queue: readonly LaneHolder[] | null,
): readonly Sample[] {
  const { kind } = status.verdict;
  const up = kind === 'unknown' ? null : Number(kind !== 'database-away');
  const judged = [...known('explorer_etl_database_up', up), ...verdictFacts(status)];
  if (!isSeen(status)) return judged;
  return [
    ...judged,
    sample('explorer_etl_status_timestamp_seconds', unixSeconds(status.as_of)),
    ...Object.entries(status.workers ?? {}).map(([post, number]) =>
      sample('explorer_etl_workers', number, { post }),
    ),
    ...(queue === null ? [] : queueFacts(queue)),
    ...creditFacts(status),
    ...status.feeds.flatMap(feedFacts),
  ];
}

/** How many lanes wait and are worked on; none of a state is told as 0. */
const queueFacts = (holders: readonly LaneHolder[]): readonly Sample[] =>
  (['queued', 'resting', 'active'] as const).map((state) => {
    const lanes = holders.filter(
      ({ is }) => (is === 'held' || is === 'lost' ? 'active' : is) === state,
    );
    return sample('explorer_etl_queue_depth', lanes.length, { state });
  });

const sample = (name: MetricName, value: number, labels: Sample['labels'] = {}): Sample => ({
  name,
  labels,
  value,
});

/** None where the value is not known. */
const known = (
  name: MetricName,
  value: number | null | undefined,
  labels: Sample['labels'] = {},
): Sample[] => (value === null || value === undefined ? [] : [sample(name, value, labels)]);

const unixSeconds = (time: string): number => Date.parse(time) / 1000;
const secondsOf = (time: string | null): number | null =>
  time === null ? null : unixSeconds(time);

/** Each kind is told, also where it does not apply: an alert that asks for 0 needs one. */
function verdictFacts({ verdict: { kind: present, reasons } }: StatusDocument): Sample[] {
  const ofFeeds = reasons.flatMap((reason) => {
    const { kind } = reason;
    const feeds = 'feeds' in reason ? reason.feeds : 'feed' in reason ? [reason.feed] : [];
    return feeds.map((feed) => JSON.stringify({ ...labelsOf(feed), kind }));
  });
  return [
    ...verdict.shape.kind.options.map((kind) =>
      sample('explorer_etl_verdict', kind === present ? 1 : 0, { kind }),
    ),
    ...Object.keys(verdictOf).map((kind) =>
      sample('explorer_etl_reasons', reasons.filter((one) => one.kind === kind).length, { kind }),
    ),
    // Two lanes of a feed may have one reason.
    ...[...new Set(ofFeeds)].map((labels) =>
      sample('explorer_etl_feed_reason', 1, JSON.parse(labels) as Sample['labels']),
    ),
  ];
}

/** A feed's name is its chain's number, a slash, and its list's name. */
function labelsOf(feed: string): { chain: string; list: string } {
  const at = feed.indexOf('/');
  return { chain: feed.slice(0, at), list: feed.slice(at + 1) };
}

function creditFacts({ as_of, credits }: StatusDocument): Sample[] {
  const { spent, left, forecast } = credits;
  const all = spent + (left ?? 0);
  return [
    sample('explorer_etl_budget_credits_spent', spent),
    ...known('explorer_etl_budget_credits_remaining', left),
    ...known('explorer_etl_budget_used_ratio', left === null || all === 0 ? null : spent / all),
    ...known('explorer_etl_credits_last_until_seconds', secondsOf(endOf(forecast, as_of))),
  ];
}

/** When credits end; null where they last, or nobody knows. */
function endOf(forecast: StatusDocument['credits']['forecast'], as_of: string): string | null {
  if (forecast.kind === 'lasts-until') return forecast.at;
  return forecast.kind === 'spent' ? as_of : null;
}

function feedFacts(report: Feed): Sample[] {
  const { freshness, data, coverage, proved } = report;
  const labels = { chain: String(report.chain_id), list: report.operation };
  const blocks = coverage?.of === 'blocks' ? coverage : null;
  const told: readonly [MetricName, number | null | undefined][] = [
    ['explorer_etl_feed_lag_seconds', report.lag_s],
    ['explorer_etl_feed_data_age_seconds', data?.age_s],
    ['explorer_etl_feed_data_age_limit_seconds', data?.limit_s],
    ['explorer_etl_feed_look_age_seconds', freshness.age_s],
    ['explorer_etl_freshness_objective_seconds', freshness.objective?.seconds],
    ['explorer_etl_covered_ratio', proved.share],
    ['explorer_etl_gaps', blocks?.gaps],
    ['explorer_etl_missing', blocks?.missing ?? proved.numbers?.unread],
    [
      'explorer_etl_history_requests_left',
      report.left.requests.likely ?? report.left.requests.most,
    ],
    ['explorer_etl_quarantine_items', report.quarantined],
    ['explorer_etl_drift_kinds', report.drift],
    ['explorer_etl_archive_bytes', report.archived_bytes],
    ['explorer_etl_last_page_timestamp_seconds', secondsOf(report.last_page_at)],
    ['explorer_etl_next_poll_timestamp_seconds', secondsOf(report.next_poll_at)],
  ];
  return [
    sample('explorer_etl_feed_state', 1, { ...labels, state: report.state }),
    ...told.flatMap(([name, value]) => known(name, value, labels)),
  ];
}
