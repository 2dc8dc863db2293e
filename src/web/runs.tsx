import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { RunsDocument } from '../status/endpoints.ts';
import { runReason } from '../status/lanes.ts';
import { paceOf, useJson, type Answer } from './api.ts';
import { Axis, Legend, Strip, type Shape } from './charts.tsx';
import { age, count, counted, moment } from './format.ts';
import { cell } from './overview.tsx';
import { Card, Chip, FeedLink, Loaded, Named, stateName, Table, tones } from './parts.tsx';
import type { Column, ViewProps } from './parts.tsx';

type Run = RunsDocument['runs'][number];
type Event = RunsDocument['events'][number];

/** Rows shown at first; a day may have thousands of runs. */
const firstRows = 20;

const eventLooks = {
  killed: ['worker killed', 'wait'],
  'connection-lost': ['connection lost', 'wait'],
  'config-changed': ['config changed', 'plain'],
  'config-refused': ['config refused', 'wait'],
  stopped: ['worker stopped', 'plain'],
  command: ['by a person', 'plain'],
} as const satisfies Record<Event['kind'], readonly [string, string]>;

type Lane = readonly [name: ComponentChildren, label: string, shapes: readonly Shape[]];

const laneColumns = (axis: RunsDocument): Column<Lane>[] => [
  ['Feed', ([name]) => name, 'head'],
  [
    'Runs',
    ([, label, shapes]) => <Strip aria-label={label} shapes={shapes} end={1} />,
    'long',
    <Axis {...axis} />,
  ],
];

/** Lanes differ by height, states by colour. */
const legend = [
  ['live', ['var(--plain)', 1, 3]],
  ['backfill', ['var(--plain)', 6, 3]],
  ['finished', [`var(--${tones.finished})`, 1, 8]],
  ['running', [`var(--${tones.open})`, 1, 8]],
  ['finished after failed requests', ['var(--wait)', 3.5, 3]],
  ['failed', [`var(--${tones.failed})`, 1, 8]],
] as const;

/** Whether it finished although it met failures. */
const hasRecovered = ({ state, first_failure: met }: Run) => met !== null && state === 'finished';

/** Empty: of any state, and an event too. */
const isOfState = (state: Run['state'] | undefined, wanted: string) =>
  wanted === '' || (state && stateName(state)) === wanted;

/** Events, and a lane for each feed: live runs above backfills. */
function Timeline({ state: wanted, ...document }: RunsDocument & { readonly state: string }) {
  const runs = document.runs.filter(({ state }) => isOfState(state, wanted));
  const events = wanted === '' ? document.events : [];
  const [start, end] = [Date.parse(document.from), Date.parse(document.to)];
  const place = (time: string | null) =>
    time === null ? 1 : Math.min(1, Math.max(0, (Date.parse(time) - start) / (end - start)));
  const runShape = (run: Run): Shape => {
    const { lane, opened_at: opened, ended_at: ended } = run;
    const [tone, height] = hasRecovered(run) ? ['wait', 1.5] : [tones[run.state], 3];
    const look = [`var(--${tone})`, lane === 'live' ? 1 : 6, height] as const;
    const title = runReason(run);
    return { look, from: place(opened), to: place(ended), ...(title !== null && { title }) };
  };
  const eventShape = ({ at, kind, sentence }: Event): Shape => {
    const look = [`var(--${eventLooks[kind][1]})`, 0, 10] as const;
    return { look, from: place(at), to: place(at), title: sentence };
  };
  const byFeed = [...Map.groupBy(runs, ({ feed }) => feed)].sort(([a], [b]) => a.localeCompare(b));
  const lanes = byFeed.map(([feed, own]): Lane => {
    return [<FeedLink feed={feed} />, counted(own.length, 'run'), own.map(runShape)];
  });
  const words = [...new Set(events.map(({ sentence }) => sentence))].join(' ');
  if (events.length > 0) lanes.unshift(['events', words, events.map(eventShape)]);
  return (
    <>
      <Legend of={legend} />
      <Table class="stacked timeline" columns={laneColumns(document)} rows={lanes} />
    </>
  );
}

type Line = Partial<Omit<Run, 'feed'>> & {
  readonly at: string;
  readonly feed: string | null;
  readonly event?: Event['kind'];
  /** What its neighbours may have in common; null: nothing. */
  readonly cause: string | null;
  /** How many it is of, since when. */
  readonly times?: number;
  readonly since?: string;
};

/** Neighbours with one cause as one: an outage is one row, not one for each run. */
function grouped(lines: readonly Line[]): Line[] {
  const groups: Line[] = [];
  for (const line of lines) {
    const last = groups.at(-1);
    const isSame = last !== undefined && last.cause !== null && last.cause === line.cause;
    const feed = last?.feed === line.feed ? line.feed : null;
    const group = { feed, times: (last?.times ?? 1) + 1, since: line.at };
    if (isSame) groups.splice(-1, 1, { ...last, ...group, reason: last.cause });
    else groups.push(line);
  }
  return groups;
}

function linesOf({ runs, events }: RunsDocument): Line[] {
  const ofRuns = runs.map((run): Line => {
    const cause = run.state === 'failed' ? run.reason : null;
    return { ...run, at: run.opened_at, reason: runReason(run), cause };
  });
  const ofEvents = events.map(({ at, feed, kind, sentence }): Line => {
    return { at, feed, event: kind, reason: sentence, cause: sentence };
  });
  return [...grouped(ofRuns), ...grouped(ofEvents)].sort((a, b) => b.at.localeCompare(a.at));
}

/** Of one run: those of a group differ. */
const number = (value: number | undefined, { times }: Line) =>
  times === undefined && value !== undefined && count(value);

const columnsOf = (now: string): Column<Line>[] => [
  [
    'Began',
    ({ at, times = 1, since = at }) =>
      cell(moment(at, now), times > 1 ? `${count(times)} since ${moment(since, now)}` : ''),
  ],
  ['Feed', ({ feed, state }) => (feed === null ? state && 'several' : <FeedLink feed={feed} />)],
  ['State', ({ event, state }) => (event ? eventLooks[event][0] : state && <Chip state={state} />)],
  ['Lane', ({ lane, times }) => times === undefined && lane],
  [
    'Took',
    ({ opened_at: at, ended_at: end, times }) => !times && at && age(at, end ?? now),
    'number',
  ],
  ['Pages', (line) => number(line.pages, line), 'number'],
  ['Rows', (line) => number(line.rows, line), 'number'],
  ['Reason', ({ reason }) => reason && <Named text={reason} />, 'long'],
];

interface RunTableProps {
  readonly answer: Answer<RunsDocument>;
  readonly now: string;
  readonly isOfOneFeed?: boolean;
  readonly state?: string;
}

export function RunTable({ answer, now, isOfOneFeed = false, state: wanted = '' }: RunTableProps) {
  const columns = columnsOf(now).filter(([name]) => !isOfOneFeed || name !== 'Feed');
  const [shown, setShown] = useState(firstRows);
  return (
    <Loaded {...answer}>
      {(document) => {
        // Grouped first: failures before and after other runs are not one outage.
        const lines = linesOf(document).filter(({ state }) => isOfState(state, wanted));
        return (
          <>
            <Table class="stacked runs" columns={columns} rows={lines.slice(0, shown)} />
            {lines.length > shown && (
              <button type="button" onClick={() => setShown(shown * 5)}>
                Show more of {count(lines.length)}
              </button>
            )}
          </>
        );
      }}
    </Loaded>
  );
}

/** Links to the runs of each state, with their number. */
function stateLinks(runs: readonly Run[], chosen: string) {
  const names = new Set(['', chosen, ...runs.map(({ state }) => stateName(state))].sort());
  return [...names].map((name) => {
    const text = `${name || 'all'} ${count(runs.filter(({ state }) => isOfState(state, name)).length)}`;
    const href = `#/runs${name && `?state=${encodeURIComponent(name)}`}`;
    const current = name === chosen ? 'page' : undefined;
    return <a key={name} class="button" href={href} aria-current={current} children={text} />;
  });
}

/** Runs, failures and worker events of the last day, or of the copy's whole life. */
export function Runs({ status, query }: ViewProps) {
  const answer = useJson<RunsDocument>('runs.json', { hours: '24' }, paceOf(status));
  const { runs = [], from, to } = answer.data ?? {};
  const failed = runs.filter(({ state }) => state === 'failed').length;
  const recovered = runs.filter(hasRecovered).length;
  const totals = `${counted(runs.length, 'run')}, ${count(failed)} failed, ${count(recovered)} finished after failed requests`;
  const state = query.get('state') ?? '';
  const title = from && to ? `Runs, ${age(from, to)}` : 'Runs';
  return (
    <Card title={title} aside={<p class="quiet">{totals}</p>}>
      <nav class="row" aria-label="States" children={stateLinks(runs, state)} />
      {answer.data !== null && <Timeline {...answer.data} state={state} />}
      <RunTable answer={answer} now={status.as_of} state={state} />
    </Card>
  );
}
