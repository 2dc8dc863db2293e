import { useMemo, useState } from 'preact/hooks';
import type { CoverageDocument, RunsDocument, ThroughputDocument } from '../status/endpoints.ts';
import type { FeedStatus } from '../status/schema.ts';
import { paceOf, useJson } from './api.ts';
import { CoverageLegend, CoverageStrip, Ends, stateWord, TimeChart } from './charts.tsx';
import { age, compact, count, counted, dateTime, duration, moment } from './format.ts';
import { newestText, openText, Overview, Reasons, verifiedShare } from './overview.tsx';
import { AdviceList, Card, Chip, Facts, Loaded, type Fact, type ViewProps } from './parts.tsx';
import { RunTable } from './runs.tsx';

function factsOf(feed: FeedStatus, now: string): readonly Fact[] {
  const { newest_item: newest, poll, left, unit, quarantined, schema_drift: drift } = feed;
  const { top = null, bottom = null } = feed.progress.reached ?? {};
  const { likely, most } = left.requests;
  const requests = likely ?? most;
  const about = likely === null ? 'at most' : 'about';
  const ends = left.ends_in_s;
  const hasReached = top !== null && bottom !== null;
  return [
    ['Reason', feed.sentence, feed.failure],
    ['Rows', count(feed.rows), `${count(feed.rows_today)} of them today`],
    ['Pages read', count(feed.pages)],
    ['Verified', verifiedShare(feed), openText(feed) || 'no gaps'],
    ['Left', requests && `${about} ${counted(requests, 'request')}`, ends && duration(ends)],
    ['The walk reached', hasReached && `${unit} ${count(bottom)} to ${count(top)}`],
    ['Newest item', newestText(feed, now), newest && `usually ${duration(newest.usual_s)}`],
    ['Last poll', poll.last_at && `${age(poll.last_at, now)} ago`],
    ['Next poll', poll.next_at && moment(poll.next_at, now)],
    ['Quarantined', quarantined && counted(quarantined, 'item')],
    ['Schema drift', drift && counted(drift, 'difference')],
    ...feed.lanes.map(({ lane, state, until, reason }): Fact => {
      const end = until === null ? '' : ` until ${moment(until, now)}`;
      return [`Lane ${lane}`, state.replaceAll('-', ' ') + end, reason];
    }),
  ];
}

type Range = NonNullable<CoverageDocument['window']>;
type Stored = CoverageDocument & { readonly whole: Range; readonly window: Range };

const isStored = (document: CoverageDocument | null): document is Stored =>
  document !== null && document.whole !== null && document.window !== null;

const one = { blocks: 'block', batches: 'batch', ranks: 'rank' } as const;

const positions = ({ from, to }: Range, unit: CoverageDocument['unit']): string =>
  from === to ? `${one[unit]} ${count(from)}` : `${unit} ${count(from)} to ${count(to)}`;

type Times = Pick<CoverageDocument['gaps'][number], 'from_at' | 'to_at'>;

const timesOf = ({ from_at: from, to_at: to }: Times): string =>
  from === null || to === null ? '' : ` · ${dateTime(from)} to ${dateTime(to)} UTC`;

/** A feed's URL with a window around a position, scaled from the current one. */
function zoomed({ feed, window, whole }: Stored, middle: number, scale: number): string {
  if (scale === Infinity) return `#/feed/${feed}`;
  const width = Math.min(whole.to - whole.from, Math.ceil((window.to - window.from) * scale));
  const least = Math.max(whole.from, Math.round(middle - width / 2));
  const from = Math.min(least, whole.to - width);
  return `#/feed/${feed}?from=${from}&to=${from + width}`;
}

function Zoom({ document }: { readonly document: Stored }) {
  const { window, whole } = document;
  const [middle, half] = [(window.from + window.to) / 2, (window.to - window.from) / 2];
  const isWhole = window.from <= whole.from && window.to >= whole.to;
  const steps = [
    ['Older', '←', middle - half, 1, window.from > whole.from],
    ['Newer', '→', middle + half, 1, window.to < whole.to],
    ['Zoom out', '−', middle, 2, !isWhole],
    ['Zoom in', '+', middle, 0.5, half >= 1],
    ['The whole list', 'All', middle, Infinity, !isWhole],
  ] as const;
  return (
    <nav class="row" aria-label="Zoom">
      {steps.map(([label, sign, at, scale, isPossible]) => {
        const href = isPossible ? { href: zoomed(document, at, scale) } : {};
        return (
          <a key={sign} class="button" aria-label={label} title={label} children={sign} {...href} />
        );
      })}
    </nav>
  );
}

/** A click zooms to this part of the window. */
const clickScale = 0.25;

/** The window as a bar: a pointer shows values, a click zooms in. */
function Bar({ document }: { readonly document: Stored }) {
  const { segments, unit, window } = document;
  const [at, setAt] = useState<number | null>(null);
  const width = window.to - window.from + 1;
  const parts = segments.map(({ from, to, state }) => {
    return { from: from - window.from, to: to + 1 - window.from, state };
  });
  const place = ({ clientX, currentTarget }: MouseEvent) => {
    const box = (currentTarget as Element).getBoundingClientRect();
    return Math.floor(window.from + (width * (clientX - box.left)) / box.width);
  };
  // The window's times, if both of its ends hold items.
  const ends = { from_at: segments[0]?.from_at ?? null, to_at: segments.at(-1)?.to_at ?? null };
  const under = segments.find(({ from, to }) => at !== null && from <= at && at <= to);
  return (
    <>
      <CoverageStrip
        of={positions(window, unit)}
        parts={parts}
        end={width}
        class="bar"
        onPointerMove={(event) => setAt(place(event))}
        onPointerLeave={() => setAt(null)}
        onClick={(event) => location.assign(zoomed(document, place(event), clickScale))}
      />
      <Ends labels={[window.from, (window.from + window.to) / 2, window.to].map(count)} />
      <p class="quiet">
        {under === undefined
          ? `${positions(window, unit)}${timesOf(ends)}. Click to zoom in.`
          : `${stateWord(under.state)}: ${positions(under, unit)}${timesOf(under)}`}
      </p>
    </>
  );
}

const Gaps = ({ gaps, unit }: CoverageDocument) => (
  <AdviceList
    items={gaps.map((gap) => {
      const cost = gap.requests === null ? '' : ` · about ${counted(gap.requests, 'request')}`;
      const text = <span class="quiet">{timesOf(gap) + cost}</span>;
      return { title: `Gap: ${positions(gap, unit)}`, text, command: gap.command };
    })}
  />
);

const handles = { run: 'Poll now', pause: 'Pause', resume: 'Resume' } as const;

/** Commands that fit the feed's state: the page itself only reads. */
function Commands({ commands, isPaused }: CoverageDocument & { readonly isPaused: boolean }) {
  const fitting = commands.filter(({ handle }) => (handle === 'resume') === isPaused);
  const items = fitting.map((each) => ({ ...each, title: handles[each.handle], text: '' }));
  return (
    <details>
      <summary>{items.map(({ title }) => title).join(' · ')}</summary>
      <AdviceList items={items} />
    </details>
  );
}

/** Coverage by position, in the window of the URL. */
function Coverage({ name, query, status, isPaused }: ViewProps & { readonly isPaused: boolean }) {
  const params = { ...Object.fromEntries(query), feed: name, cells: '300' };
  const answer = useJson<CoverageDocument>('coverage.json', params, paceOf(status));
  const zoom = isStored(answer.data) && <Zoom document={answer.data} />;
  return (
    <Card title="Coverage" aside={zoom}>
      <CoverageLegend />
      <Loaded {...answer}>
        {(data) => (
          <>
            {isStored(data) ? <Bar document={data} /> : <p class="quiet">Nothing is stored yet.</p>}
            <Gaps {...data} />
            <Commands {...data} isPaused={isPaused} />
          </>
        )}
      </Loaded>
    </Card>
  );
}

/** In seconds. */
const lagSteps = [1, 5, 15, 60, 300, 900, 3_600, 10_800, 43_200, 86_400, 604_800, 2_592_000];

function History({ name, status }: ViewProps) {
  const params = { feed: name, hours: '24' };
  const { data } = useJson<ThroughputDocument>('throughput.json', params, paceOf(status));
  const { times, rows, lag } = useMemo(() => {
    const { bins: all = [], bin_s: seconds = 60 } = data ?? {};
    // A feed may be younger than the window.
    const bins = all.slice(
      Math.max(
        0,
        all.findIndex(({ pages }) => pages > 0),
      ),
    );
    const rates = bins.map((bin) => (60 * bin.rows) / seconds);
    return {
      times: bins.map(({ at }) => Date.parse(at)),
      rows: [{ label: 'rows a minute', values: rates }],
      lag: [{ label: 'age of the newest item', values: bins.map(({ lag_s }) => lag_s) }],
    };
  }, [data]);
  const lagLook = { kind: 'line', format: duration, steps: lagSteps } as const;
  return (
    <div class="charts">
      <Card title="Throughput">
        <TimeChart label="Throughput" times={times} series={rows} kind="bars" format={compact} />
      </Card>
      <Card title="Lag">
        <TimeChart label="Lag" times={times} series={lag} {...lagLook} />
      </Card>
    </div>
  );
}

/** One feed: its data, its gaps, its pace, and its failures. */
export function Feed(props: ViewProps) {
  const { name, status } = props;
  const feed = status.feeds.find((each) => each.feed === name);
  const isOwn = ({ feeds }: { readonly feeds: readonly string[] }) => feeds.includes(name);
  const runs = useJson<RunsDocument>('runs.json', { feed: name, hours: '168' }, paceOf(status));
  if (status.feeds.length === 0) return <Overview {...props} />;
  if (feed === undefined) return <Card title="There is no such feed" children={name} />;
  return (
    <>
      <Card title={`${feed.chain_name} ${feed.label}`} aside={<Chip state={feed.state} />}>
        <Facts facts={factsOf(feed, status.as_of)} />
      </Card>
      <Reasons reasons={status.reasons.filter(isOwn)} notes={status.notes.filter(isOwn)} />
      <Coverage {...props} isPaused={feed.paused_since !== null} />
      <History {...props} />
      <Card title="Runs, 7 days">
        <RunTable answer={runs} now={status.as_of} isOfOneFeed />
      </Card>
    </>
  );
}
