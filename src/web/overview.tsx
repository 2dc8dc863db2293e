import type { StripsDocument } from '../status/endpoints.ts';
import type { FeedStatus, Reason, StatusDocument } from '../status/schema.ts';
import { paceOf, useJson, wrongToken, type Answer } from './api.ts';
import { Axis, CoverageLegend, CoverageStrip } from './charts.tsx';
import { age, compact, count, counted, decimal, duration, moment, percent } from './format.ts';
import { AdviceList, Card, Chip, Command, Facts, Table, tones } from './parts.tsx';
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

/** The banner's text; without a status it has no colour. */
function bannerOf({ data, problem }: StatusAnswer) {
  if (data === null || problem !== null) {
    const [token, other] = [
      'Add it to the end of this address: #token=…',
      'The page goes on by itself as soon as there is a status.',
    ];
    return { tone: 'plain', rest: '', note: problem === wrongToken ? token : other, command: null };
  }
  const { overall, reasons, as_of: now } = data;
  const { state, sentence, since, command } = overall;
  const [, tone] = looks[state];
  // A person who paused it knows; a missing worker needs a person.
  const isGone = state === 'stopped' && reasons.some(({ code }) => code === 'no-worker');
  const began = moment(since ?? now, now);
  const beginning = sentence.includes(began) ? 'for' : `since ${began},`;
  const note = since ? `${beginning} ${age(since, now)}` : `as of ${began}`;
  return { tone: isGone ? 'act' : tone, rest: `: ${sentence}`, note, command };
}

/** The overall status in one sentence, since when, and the command that helps. */
export function Banner(answer: StatusAnswer) {
  const { tone, rest, note, command } = bannerOf(answer);
  return (
    <section class={`banner ${tone}`} aria-label="Overall status">
      <div class="row wide">
        <div>
          <p class="sentence" role={answer.problem === null ? 'status' : 'alert'}>
            <b>{headline(answer)}</b>
            {rest}
          </p>
          <p>{note}</p>
        </div>
        {command !== null && <Command text={command} />}
      </div>
    </section>
  );
}

type Forecast = StatusDocument['credits']['forecast'];

function forecastText(of: Forecast, now: string): string {
  if (of.kind === 'lasts-until') return `until ${moment(of.at, now)}`;
  if (of.kind === 'spent') return `spent until ${moment(of.until, now)}`;
  if (of.kind === 'no-limit') return 'no daily limit';
  if (of.kind === 'enough') return 'enough for today';
  if (of.kind !== 'history-takes-days') return 'too early to forecast';
  return `history takes ${of.days.least} to ${counted(of.days.most, 'day')}`;
}

const gapsText = (gaps: number): string => (gaps === 0 ? 'no gaps' : counted(gaps, 'gap'));

function Numbers({ totals, credits, as_of: now, feeds }: StatusDocument) {
  const { newest_item_at: newest, verified_share: share } = totals;
  const gaps = feeds.reduce((sum, { verified }) => sum + verified.gaps, 0);
  const limit = credits.limit === null ? '' : `of ${count(credits.limit)} · `;
  return (
    <Facts
      class="numbers"
      facts={[
        ['Rows', count(totals.rows), `${count(totals.rows_today)} today`],
        ['Newest item', agoText(newest, now), newest === null ? '' : moment(newest, now)],
        ['Verified complete', share === null ? '–' : percent(share), gapsText(gaps)],
        ['Credits today', count(credits.spent), limit + forecastText(credits.forecast, now)],
      ]}
    />
  );
}

const agoText = (time: string | null | undefined, now: string): string =>
  time ? `${age(time, now)} ago` : '–';

const mostFeeds = 6;

function adviceOf({ sentence, advice, feeds, command }: Reason): Advice {
  const links = feeds.slice(0, mostFeeds).map((feed) => (
    <a key={feed} href={`#/feed/${feed}`}>
      {feed}
    </a>
  ));
  const more = feeds.length > mostFeeds && `and ${feeds.length - mostFeeds} more`;
  const text = [advice, <p class="quiet">{[links, more]}</p>];
  return { title: sentence, text, command };
}

/** What only a person can fix; other reasons are folded. */
export function Reasons({ reasons }: { readonly reasons: readonly Reason[] }) {
  const actions = reasons.filter(({ severity }) => severity === 'action');
  const notes = reasons.filter(({ severity }) => severity !== 'action');
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
      {reasons.length === 0 && <p class="notes">No notes</p>}
    </>
  );
}

/** A value with a note below; amber if late. */
const cell = (value: string, note = '', isMet: boolean | null = true) => (
  <>
    <span class={isMet === false ? 'wait' : ''}>{value}</span>
    <small>{note}</small>
  </>
);

/** The feed's name, with the reason for a bad state, unless the banner gives it for all. */
const nameCell =
  (shown: string) =>
  ({ feed, chain_name: chain, label, state, sentence }: FeedStatus) => (
    <>
      <a href={`#/feed/${feed}`}>
        <small>{chain} </small>
        {label}
      </a>
      {['act', 'wait'].includes(tones[state]) && sentence !== shown && <small>{sentence}</small>}
    </>
  );

/** Pages per second while a worker reads, and the time left. */
function rateCell({ lanes, left: { ends_in_s: ends } }: FeedStatus) {
  const running = lanes.filter(({ state }) => state === 'running');
  const rate = running.reduce((sum, lane) => sum + (lane.pages_per_second ?? 0), 0);
  return cell(rate === 0 ? '–' : `${decimal(rate)} pages/s`, ends ? `${duration(ends)} left` : '');
}

const bases = { known: '', estimated: '≈ ', 'at-least': '≥ ', unknown: '' } as const;

export const verifiedShare = ({ verified: { share, basis } }: FeedStatus): string =>
  share === null ? 'unknown' : bases[basis] + percent(share);

const rowsCell = ({ rows, rows_today: today }: FeedStatus) =>
  cell(count(rows), today === 0 ? '' : `+${compact(today)} today`);

/** Gaps, or the newest batches: they are not verified, but their share counts without them. */
export function openText({ verified: { gaps, batches } }: FeedStatus): string {
  if (gaps > 0) return gapsText(gaps);
  return batches?.waiting ? `${count(batches.waiting)} to verify` : '';
}

function columnsOf(status: StatusDocument, strips: StripsDocument | null): Column<FeedStatus>[] {
  const { as_of: now, overall } = status;
  const newestCell = ({ newest_item: item }: FeedStatus) =>
    cell(agoText(item?.at, now), '', item?.is_met);
  const pollCell = ({ poll: { last_at: last, target, is_met: isMet } }: FeedStatus) =>
    cell(agoText(last, now), target === null ? '' : `target ${duration(target.seconds)}`, isMet);
  const strip = ({ feed, chain_name: chain, label }: FeedStatus) => {
    const cells = strips?.feeds.find((each) => each.feed === feed)?.cells ?? [];
    const parts = cells.map((state, from) => ({ state, from, to: from + 1 }));
    return <CoverageStrip of={`${chain} ${label}`} parts={parts} end={cells.length || 1} />;
  };
  return [
    ['Feed', nameCell(overall.sentence), 'head'],
    ['State', ({ state }) => <Chip state={state} />],
    ['Rows', rowsCell, 'number'],
    ['Rate', rateCell, 'number'],
    ['Newest item', newestCell, 'number'],
    ['Last poll', pollCell, 'number'],
    ['Verified', (feed) => cell(verifiedShare(feed), openText(feed)), 'number'],
    ['Coverage', strip, 'long', strips === null ? 'Coverage' : <Axis {...strips} />],
  ];
}

/** Four totals, actions, and a row for every feed, with its coverage on one time axis. */
export function Overview({ status }: ViewProps) {
  const { data } = useJson<StripsDocument>('strips.json', {}, paceOf(status));
  const { feeds, reasons } = status;
  return (
    <>
      <Numbers {...status} />
      <Reasons reasons={reasons} />
      <Card title="Feeds" aside={<CoverageLegend />}>
        {feeds.length === 0 && <p class="quiet">No feed is configured yet.</p>}
        <Table class="stacked feeds" columns={columnsOf(status, data)} rows={feeds} />
      </Card>
    </>
  );
}
