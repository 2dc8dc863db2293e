import { useMemo } from 'preact/hooks';
import type { RunsDocument, ThroughputDocument } from '../status/endpoints.ts';
import type { FeedStatus, StatusDocument } from '../status/schema.ts';
import { useJson } from './api.ts';
import { Reasons } from './banner.tsx';
import { Card, Facts, type Fact } from './card.tsx';
import { TimeChart } from './charts.tsx';
import { Chip } from './chip.tsx';
import { Coverage } from './coverage.tsx';
import { verifiedShare } from './feeds.tsx';
import { ago, compact, count, counted, duration, moment } from './format.ts';
import { RunTable } from './runs.tsx';

const chartHours = 24;
const runHours = 7 * 24;
const everyMs = 15_000;

const optional = (value: number, noun: string) => (value === 0 ? '' : counted(value, noun));

function factsOf(feed: FeedStatus, now: string): readonly Fact[] {
  const { newest_item: newest, poll, verified, progress, unit } = feed;
  const { top = null, bottom = null } = progress.reached ?? {};
  const reached =
    top === null || bottom === null ? '' : `${unit} ${count(bottom)} to ${count(top)}`;
  return [
    ['Rows', `${count(feed.rows)}, ${count(feed.rows_today)} of them today`],
    ['Pages read', count(feed.pages)],
    [
      'Verified',
      `${verifiedShare(feed)}, ${verified.gaps === 0 ? 'no gaps' : counted(verified.gaps, 'gap')}`,
    ],
    ['Left', leftOf(feed.left)],
    ['The walk reached', reached],
    [
      'Newest item',
      newest === null ? '' : `${ago(newest.at, now)}, usually ${duration(newest.usual_s)}`,
    ],
    ['Last poll', poll.last_at === null ? '' : ago(poll.last_at, now)],
    ['Next poll', poll.next_at === null ? '' : moment(poll.next_at, now)],
    ['Quarantined', optional(feed.quarantined, 'item')],
    ['Schema drift', optional(feed.schema_drift, 'field')],
    ...feed.lanes.map((lane): Fact => [`Lane ${lane.lane}`, laneText(lane, now)]),
  ];
}

function leftOf({ requests, ends_in_s: ends }: FeedStatus['left']): string {
  const likely = requests.likely ?? requests.least;
  const time = ends === null ? '' : `, ${duration(ends)}`;
  return likely === null || likely === 0 ? '' : `about ${counted(likely, 'request')}${time}`;
}

function laneText(lane: FeedStatus['lanes'][number], now: string): string {
  const until = lane.until === null ? '' : ` until ${moment(lane.until, now)}`;
  const reason = lane.reason === null ? '' : `: ${lane.reason}`;
  return `${lane.state.replaceAll('-', ' ')}${until}${reason}`;
}

/** Seconds as far as an axis may need them. */
const lagText = (seconds: number): string =>
  seconds < 600 ? `${count(seconds)} s` : duration(seconds);

/** Rows and lag of the last hours, under one crosshair. */
function History({ feed }: { readonly feed: string }) {
  const query = { feed, hours: String(chartHours) };
  const { data } = useJson<ThroughputDocument>('throughput.json', query, everyMs);
  const { times, rows, lag } = useMemo(() => {
    const { bins = [], bin_s: seconds = 60 } = data ?? {};
    return {
      times: bins.map(({ at }) => Date.parse(at)),
      rows: [{ label: 'rows a minute', values: bins.map((bin) => (60 * bin.rows) / seconds) }],
      lag: [{ label: 'age of the newest item', values: bins.map(({ lag_s }) => lag_s) }],
    };
  }, [data]);
  const shared = { times, group: feed };
  return (
    <div class="charts">
      <Card title={`Throughput, ${chartHours} h`}>
        <TimeChart {...shared} label="Throughput" series={rows} kind="bars" format={compact} />
      </Card>
      <Card title={`Lag, ${chartHours} h`}>
        <TimeChart {...shared} label="Lag" series={lag} kind="line" format={lagText} />
      </Card>
    </div>
  );
}

interface FeedProps {
  readonly name: string;
  readonly query: URLSearchParams;
  readonly status: StatusDocument;
}

/** One feed: what it has, what is missing, how fast it is, and why it failed. */
export function Feed({ name, query, status }: FeedProps) {
  const feed = status.feeds.find((each) => each.feed === name);
  const runs = useJson<RunsDocument>('runs.json', { feed: name, hours: String(runHours) }, everyMs);
  if (feed === undefined) return <Card title="There is no such feed" isMain children={name} />;
  return (
    <>
      <Card title={`${feed.chain_name} ${feed.label}`} isMain aside={<Chip state={feed.state} />}>
        {feed.sentence !== null && (
          <p>
            {feed.sentence} <code>{feed.failure}</code>
          </p>
        )}
        <Facts facts={factsOf(feed, status.as_of)} />
      </Card>
      <Reasons reasons={status.reasons.filter(({ feeds }) => feeds.includes(name))} />
      <Coverage feed={name} query={query} />
      <History feed={name} />
      <Card title="Runs, 7 days">
        <RunTable answer={runs} now={status.as_of} isOfOneFeed />
      </Card>
    </>
  );
}
