import { printable } from '../printable.ts';
import type { FeedCoverage } from '../report/lane-status.ts';
import type { FeedReport } from '../report/feed-report.ts';
import { duration } from './duration.ts';
import { table, whole } from './table.ts';

/** The status for people, at most 100 columns wide: the feeds, then their lanes. */
export function statusText(feeds: readonly FeedReport[]): string {
  const notes = feeds.flatMap(({ feed, reason, quarantined, drift, archived_bytes }) => [
    ...(reason === null ? [] : [`${feed}: ${printable(reason)}`]),
    ...(quarantined === 0 ? [] : [`${feed}: ${whole(quarantined)} items in quarantine`]),
    ...(drift === 0 ? [] : [`${feed}: ${ways(drift)}, see verify`]),
    ...(archived_bytes === 0 ? [] : [`${feed}: ${volume(archived_bytes)} of archived pages`]),
  ]);
  return `${[feedTable(feeds), laneTable(feeds), ...notes].join('\n')}\n`;
}

function feedTable(feeds: readonly FeedReport[]): string {
  return table(
    ['feed', 'state', 'rows', 'lag', 'complete'],
    feeds.map(({ feed, state, rows, lag_s, coverage }) => [
      feed,
      state,
      whole(rows),
      lag_s === null ? '' : duration(lag_s),
      completeness(coverage),
    ]),
  );
}

function laneTable(feeds: readonly FeedReport[]): string {
  return table(
    ['feed', 'lane', 'state', 'last done', 'pages left', 'ends in'],
    feeds.flatMap(({ feed, lanes }) =>
      lanes.map((lane) => [
        feed,
        lane.lane,
        lane.state,
        age(lane.last_success_age_s),
        lane.lane === 'live' ? '' : left(lane.left_requests),
        lane.state !== 'idle' && lane.lane === 'backfill' ? duration(lane.ends_in_s) : '',
      ]),
    ),
  );
}

function completeness(coverage: FeedCoverage): string {
  switch (coverage.of) {
    case 'blocks': {
      const gaps = coverage.gaps === 1 ? '1 gap' : `${whole(coverage.gaps)} gaps`;
      return coverage.gaps === 0
        ? 'no gaps'
        : `${gaps}, ${compact.format(coverage.missing)} ${coverage.unit}`;
    }
    case 'batches':
      return `${compact.format(coverage.settled)} settled of ${compact.format(coverage.read)}`;
    case 'ranking':
      return coverage.as_of === null ? 'no ranking' : `${whole(coverage.factories)} factories`;
  }
}

const ways = (drift: number) =>
  `items differ from the specification in ${drift === 1 ? '1 way' : `${whole(drift)} ways`}`;

/** Bytes as people say them; a unit is a thousand of the one before. */
function volume(bytes: number): string {
  const step = Math.min(3, Math.floor(Math.log10(bytes) / 3));
  return `${(bytes / 1000 ** step).toPrecision(3)} ${['B', 'kB', 'MB', 'GB'][step] ?? 'GB'}`;
}

const compact = new Intl.NumberFormat('en-US', { notation: 'compact' });

const left = (requests: number | null) => (requests === null ? 'unknown' : whole(requests));

const age = (seconds: number | null) => (seconds === null ? '' : `${duration(seconds)} ago`);
