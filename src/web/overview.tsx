import type { StripsDocument } from '../status/endpoints.ts';
import type { FeedStatus, Reason, StatusDocument } from '../status/schema.ts';
import { isRunning } from '../status/lanes.ts';
import { paceOf, useJson, type Answer } from './api.ts';
import { Axis, CoverageLegend, CoverageStrip, Ends } from './charts.tsx';
import { age, ago, compact, count, counted, duration, moment, percent, second } from './format.ts';
import {
  AdviceList,
  Card,
  Chip,
  Command,
  Facts,
  FeedLink,
  Named,
  Table,
  toneOf,
  tones,
} from './parts.tsx';
import type { Advice, Column, ViewProps } from './parts.tsx';

/** The label and colour of a state: only red needs a person. */
const looks = {
  healthy: ['Healthy', 'good'],
  syncing: ['Syncing', 'busy'],
  degraded: ['Degraded', 'wait'],
  stopped: ['Stopped', 'wait'],
  'action-required': ['Action needed', 'act'],
} as const satisfies Record<StatusDocument['overall']['state'], readonly [string, string]>;

type StatusAnswer = Answer<StatusDocument>;

/** The overall status for the window's title, or why it is unknown. */
export const headline = ({ data, problem }: StatusAnswer): string =>
  problem ?? (data === null ? 'Starting …' : looks[data.overall.state][0]);

/** Red if it needs a person; one who paused it knows. */
function bannerTone({ overall: { state }, reasons }: StatusDocument): string {
  const isGone = state === 'stopped' && reasons.some(({ code }) => code === 'no-worker');
  return isGone ? 'act' : looks[state][1];
}

/** The reason that the banner gives, maybe after the names of its feeds. */
const mainReason = ({ reasons, overall }: StatusDocument) =>
  reasons.find(({ sentence }) => overall.sentence.endsWith(sentence));

/** The explorer that fails and when it is tried next, for how long, and how old the status is. */
function timesOf(status: StatusDocument): string {
  const { as_of: now, feeds, overall } = status;
  const own = mainReason(status)?.feeds ?? [];
  const failing = feeds.find(({ feed, failure }) => failure !== null && own.includes(feed));
  const next = failing?.lanes.find(({ until }) => until !== null)?.until ?? failing?.poll.next_at;
  const tries = [failing?.host, next && `next try ${moment(next, now)}`];
  return [
    // The sentence of an outage has both.
    ...(overall.sentence.includes('next try') ? [] : tries),
    overall.since !== null && `for ${age(overall.since, now)}`,
    `as of ${second(now)} UTC`,
  ]
    .filter(Boolean)
    .join(' · ');
}

/** The overall status in one sentence, since when, and what helps; grey if unknown. */
export function Banner(answer: StatusAnswer) {
  const { data, problem } = answer;
  const known = problem === null ? data : null;
  const advice = known && mainReason(known)?.advice;
  const { sentence, command = null } = known?.overall ?? {};
  const tone = known === null ? 'plain' : bannerTone(known);
  return (
    <section class={`banner ${tone}`} style={toneOf(tone)} aria-label="Overall status">
      <div class="row wide">
        <div>
          <p class="sentence" role={problem === null ? 'status' : 'alert'}>
            <b>{headline(answer)}</b>
            {sentence && <Named text={`: ${sentence}`} />}
          </p>
          {advice && <p>{advice}</p>}
          {/* The key makes it a new line instead of one that moves. */}
          <p key={String(data === null)}>
            {data === null ? 'The page retries by itself.' : timesOf(data)}
          </p>
        </div>
        {command !== null && <Command text={command} />}
      </div>
    </section>
  );
}

type Forecast = StatusDocument['credits']['forecast'];

function forecastText(of: Forecast, limit: number | null, now: string): string {
  if (of.kind === 'lasts-until') return `until ${moment(of.at, now)}`;
  if (of.kind === 'spent') return `spent until ${moment(of.until, now)}`;
  if (of.kind === 'no-limit') return limit === null ? 'no daily limit' : '';
  if (of.kind === 'enough') return 'enough for today';
  if (of.kind !== 'history-takes-days') return 'too early to forecast';
  const { least, most } = of.days;
  const days = counted(most, 'day');
  if (least === most) return `history takes about ${days}`;
  return `history takes ${least === 0 ? 'up' : least} to ${days}`;
}

/** Missing data that a worker reads is no gap. */
function gapsText(feeds: readonly FeedStatus[]): string {
  const open = feeds.filter(({ verified: { gaps } }) => gaps > 0);
  const left = open.filter((feed) => !isRunning(feed, 'backfill'));
  const gaps = left.reduce((sum, { verified }) => sum + verified.gaps, 0);
  if (gaps > 0) return counted(gaps, 'gap');
  return open.length > 0 ? 'being read' : '';
}

function Numbers({ totals, credits, as_of: now, feeds }: StatusDocument) {
  const { newest_item_at: newest, verified_share: share } = totals;
  const { spent, limit, left } = credits;
  const of = limit === null ? '' : `of ${count(limit)}`;
  const balance = left !== null && left < 0 ? `${count(left)} left` : of;
  const forecast = forecastText(credits.forecast, limit, now);
  return (
    <Facts
      class="numbers"
      facts={[
        ['Rows', count(totals.rows), `${count(totals.rows_today)} today`],
        ['Newest item', ago(newest, now), newest && moment(newest, now)],
        [
          'Verified complete',
          share === null ? '–' : percent(share),
          share !== null && (gapsText(feeds) || 'no gaps'),
        ],
        [
          'Credits today',
          count(spent),
          [balance, forecast].filter((part) => part !== '').join(' · '),
        ],
      ]}
    />
  );
}

const mostFeeds = 6;

type Note = StatusDocument['notes'][number] & Partial<Pick<Reason, 'advice'>>;

function adviceOf({ sentence, advice, feeds, command }: Note): Advice {
  const links = feeds.slice(0, mostFeeds).map((feed) => <FeedLink key={feed} feed={feed} />);
  const more = feeds.length > mostFeeds && `and ${feeds.length - mostFeeds} more`;
  const text = [advice, <p class="quiet">{[links, more]}</p>];
  return { title: sentence, text, command };
}

/** Feeds that are left out, in one line. */
const AtRest = ({ at_rest: feeds }: Pick<StatusDocument, 'at_rest'>) =>
  feeds.length > 0 && (
    <p class="notes">
      At rest, wanted by no deployment: <Named text={feeds.join(', ')} />
    </p>
  );

/** What only a person can fix; other reasons, and notes, are folded. */
export function Reasons({ reasons, notes: others }: Pick<StatusDocument, 'reasons' | 'notes'>) {
  const actions = reasons.filter(({ severity }) => severity === 'action');
  const notes: Note[] = [...reasons.filter(({ severity }) => severity !== 'action'), ...others];
  return (
    <>
      {actions.length > 0 && (
        <Card title="Action needed" class="actions">
          <AdviceList items={actions.map(adviceOf)} />
        </Card>
      )}
      {notes.length > 0 && (
        <details>
          <summary>{counted(notes.length, 'note')}</summary>
          <AdviceList items={notes.map(adviceOf)} />
        </details>
      )}
      {actions.length + notes.length === 0 && <p class="notes">No notes</p>}
    </>
  );
}

/** A value with a note below; amber if late. */
export const cell = (value: string, note = '', isMet: boolean | null = true) => (
  <>
    <span class={isMet === false ? 'wait' : ''}>{value}</span>
    <small>{note}</small>
  </>
);

/** The feed's name, with the reason for a bad state, unless it is shown above for several. */
const nameCell =
  (shown: ReadonlySet<string | null>) =>
  ({ feed, chain_name: chain, label, state, sentence }: FeedStatus) => (
    <>
      <a href={`#/feed/${feed}`}>
        <small>{chain} </small>
        {label}
      </a>
      {['act', 'wait'].includes(tones[state]) && !shown.has(sentence) && <small>{sentence}</small>}
    </>
  );

/** Pages per second while a worker reads, and the time left. */
function rateCell({ lanes, left: { ends_in_s: ends, requests } }: FeedStatus) {
  const most = requests.likely === null ? '≤ ' : '';
  const running = lanes.filter(({ state }) => state === 'running');
  const rate = running.reduce((sum, lane) => sum + (lane.pages_per_second ?? 0), 0);
  return cell(
    rate === 0 ? '–' : `${compact(rate)} pages/s`,
    ends ? `${most}${duration(ends)} left` : '',
  );
}

const bases = { known: '', estimated: '≈ ', 'at-least': '≥ ', unknown: '' } as const;

export const verifiedShare = ({ verified: { share, basis } }: FeedStatus): string =>
  share === null ? 'unknown' : bases[basis] + percent(share);

const rowsCell = ({ rows, rows_today: today }: FeedStatus) =>
  cell(count(rows), today === 0 ? '' : `+${compact(today)} today`);

/** Gaps, or the newest batches: they are not verified, but their share counts without them. */
export function openText(feed: FeedStatus): string {
  const { gaps, batches } = feed.verified;
  return gaps === 0 && batches?.waiting ? `${count(batches.waiting)} to verify` : gapsText([feed]);
}

/** The newest item's age; null: unknown. Batch blocks and rankings, which no limit judges, have only `lag_s`. */
export function newestText({ newest_item: item, lag_s }: FeedStatus, now: string): string | null {
  if (item !== null) return ago(item.at, now);
  return lag_s === null ? null : `${duration(lag_s)} ago`;
}

function columnsOf(status: StatusDocument, strips: StripsDocument | null): Column<FeedStatus>[] {
  const { as_of: now, reasons } = status;
  const shared = reasons.filter(({ feeds }) => feeds.length > 1);
  const shown = new Set([mainReason(status), ...shared].map((reason) => reason?.sentence ?? null));
  const newestCell = (feed: FeedStatus) =>
    cell(newestText(feed, now) ?? '–', '', feed.newest_item?.is_met);
  const pollCell = ({ poll: { last_at: last, target, is_met: isMet } }: FeedStatus) =>
    cell(ago(last, now), target === null ? '' : `target ${duration(target.seconds)}`, isMet);
  const strip = ({ feed, chain_name: chain, label }: FeedStatus) => {
    const cells = strips?.feeds.find((each) => each.feed === feed)?.cells ?? [];
    const parts = cells.map((state, from) => ({ state, from, to: from + 1 }));
    return <CoverageStrip of={`${chain} ${label}`} parts={parts} end={cells.length || 1} />;
  };
  const axis = strips === null ? <Ends labels={['Coverage']} /> : <Axis {...strips} />;
  return [
    ['Feed', nameCell(shown), 'head'],
    ['State', ({ state }) => <Chip state={state} />],
    ['Rows', rowsCell, 'number'],
    ['Rate', rateCell, 'number'],
    ['Newest item', newestCell, 'number'],
    ['Last poll', pollCell, 'number'],
    ['Verified', (feed) => cell(verifiedShare(feed), openText(feed)), 'number'],
    ['Coverage', strip, 'long', axis],
  ];
}

/** Four totals, actions, and a row for every feed, with its coverage on one time axis. */
export function Overview({ status }: ViewProps) {
  const { data } = useJson<StripsDocument>('strips.json', {}, paceOf(status));
  const { feeds, workers } = status;
  if (feeds.length === 0) {
    const text =
      workers === null ? 'Unknown until the database answers.' : 'No feed is configured yet.';
    return <Card title="Feeds" children={text} />;
  }
  return (
    <>
      <Numbers {...status} />
      <Reasons {...status} />
      <Card title="Feeds" aside={<CoverageLegend />}>
        <Table class="stacked feeds" columns={columnsOf(status, data)} rows={feeds} />
      </Card>
      <AtRest at_rest={status.at_rest} />
    </>
  );
}
