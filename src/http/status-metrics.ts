import { Gauge, Registry } from 'prom-client';
import { overallStates, reasonCodes, type StatusDocument } from '../status/schema.ts';
import { isKnown } from '../status/status.ts';

/**
 * What the status says, as gauges. Names are public: dashboards and alerts of others read them. What is unknown has no
 * series: a 0 would be a claim.
 */
export function metricsOf(status: StatusDocument): Registry {
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
  for (const [state, lanes] of byState(feeds)) add('lanes', 'Lanes of feeds.', lanes, { state });
  const { spent, left } = credits;
  const used = left === null ? null : spent / Math.max(1, spent + left);
  add('budget_credits_spent', 'Credits that all keys spent today (UTC).', spent);
  add('budget_credits_remaining', 'Credits that are left today.', left);
  add('budget_used_ratio', "Part of the day's credits that is spent, 0 to 1.", used);
  add('credits_last_until_seconds', 'When polls run out of credits, Unix time.', endOf(status));
  for (const { code, feeds: named } of reasons) {
    for (const feed of named) {
      add('feed_reason', '1 for each reason that names the feed.', 1, { ...labelsOf(feed), code });
    }
  }
  for (const { feed, state, verified, poll, left: rest, newest_item: item, ...own } of feeds) {
    const labels = labelsOf(feed);
    const ofFeed = (name: string, help: string, value: number | null | undefined) =>
      add(name, help, value, labels);
    const requests = rest.requests.likely ?? rest.requests.most;
    add('feed_state', '1 for the state of the feed.', 1, { ...labels, state });
    ofFeed('feed_lag_seconds', 'Age of the newest item, or of the last ranking.', own.lag_s);
    ofFeed('feed_item_age_seconds', 'Age of the newest item that others confirm.', item?.age_s);
    ofFeed('feed_item_age_limit_seconds', 'How old that item may be.', item?.limit_s);
    ofFeed('feed_poll_age_seconds', 'Time since the last finished poll.', poll.age_s);
    ofFeed('feed_poll_target_seconds', 'How old that poll may be.', poll.target?.seconds);
    ofFeed('verified_ratio', 'Part of the list that is verified, 0 to 1.', verified.share);
    if (own.unit !== 'ranks') {
      const missing = verified.batches?.unread ?? verified.missing;
      ofFeed('gaps', 'Gaps between verified ranges.', verified.gaps);
      ofFeed('missing', 'Blocks, or batches, that are wanted and not read.', missing);
    }
    ofFeed('history_requests_left', 'Requests that the history takes.', requests);
    ofFeed('quarantine_items', 'Items in quarantine.', own.quarantined);
    ofFeed('schema_drift', 'Fields or values that this version does not know.', own.schema_drift);
    ofFeed('archive_bytes', 'Bytes of archived pages, compressed.', own.archived_bytes);
    ofFeed('last_page_timestamp_seconds', 'When the last page came.', unix(own.last_page_at));
    ofFeed('next_poll_timestamp_seconds', 'When the next poll is due.', unix(poll.next_at));
  }
  return registry;
}

const unix = (time: string | null): number | null =>
  time === null ? null : Date.parse(time) / 1000;

/** A feed's name is its chain's number, a slash, and its list's name. */
function labelsOf(feed: string): { readonly chain: string; readonly list: string } {
  const at = feed.indexOf('/');
  return { chain: feed.slice(0, at), list: feed.slice(at + 1) };
}

function byState(feeds: StatusDocument['feeds']): readonly (readonly [string, number])[] {
  const lanes = feeds.flatMap((feed) => feed.lanes);
  return [...Map.groupBy(lanes, ({ state }) => state)].map(([state, own]) => [state, own.length]);
}

function endOf({ credits: { forecast }, as_of }: StatusDocument): number | null {
  if (forecast.kind === 'lasts-until') return unix(forecast.at);
  return forecast.kind === 'spent' ? unix(as_of) : null;
}
