import { useState } from 'preact/hooks';
import type { RunsDocument } from '../status/endpoints.ts';
import type { StatusDocument } from '../status/schema.ts';
import { isRunning, useJson, type Answer } from './api.ts';
import { Card, Loaded } from './card.tsx';
import { Chip, tones } from './chip.tsx';
import { count, counted, duration, moment, secondsSince } from './format.ts';
import { Axis } from './strip.tsx';
import { Table, type Column } from './table.tsx';

type Run = RunsDocument['runs'][number];
type Event = RunsDocument['events'][number];

const hours = 24;
const runningMs = 5_000;
const restingMs = 30_000;
/** Rows of the table at first; runs of a day may be thousands. */
const firstRows = 20;
/** A run of seconds is still seen, in shares of the axis. */
const leastWidth = 0.003;

const eventLooks = {
  killed: ['worker killed', 'wait'],
  'config-changed': ['config changed', 'plain'],
  'config-refused': ['config refused', 'act'],
  stopped: ['worker stopped', 'plain'],
} as const satisfies Record<Event['kind'], readonly [string, string]>;

/** What is drawn on the axis of the day: live runs above backfills, or an event as a mark. */
interface Lane {
  readonly name: string;
  readonly runs: readonly Run[];
  readonly events: readonly Event[];
}

function Bars({ lane, from, to }: { lane: Lane; from: number; to: number }) {
  const place = (time: string | null) =>
    time === null ? 1 : Math.min(1, Math.max(0, (Date.parse(time) - from) / (to - from)));
  const words = lane.events.map(({ sentence }) => sentence).join(' ');
  const label = words === '' ? counted(lane.runs.length, 'run') : words;
  return (
    <svg
      class="strip lane"
      role="img"
      aria-label={label}
      viewBox="0 0 1 10"
      preserveAspectRatio="none"
    >
      {lane.runs.map((run) => {
        const [start, end] = [place(run.opened_at), place(run.ended_at)];
        const width = Math.max(leastWidth, end - start);
        const y = run.lane === 'live' ? 1 : 6;
        return (
          <rect
            key={run.id}
            class={tones[run.state]}
            x={Math.min(start, 1 - width)}
            y={y}
            width={width}
            height={3}
          />
        );
      })}
      {lane.events.map(({ at, kind, sentence }) => (
        <rect key={at} class={eventLooks[kind][1]} x={place(at)} width={leastWidth} height={10}>
          <title>{sentence}</title>
        </rect>
      ))}
    </svg>
  );
}

function Timeline({ document: { runs, events, ...axis } }: { readonly document: RunsDocument }) {
  const byFeed = [...Map.groupBy(runs, ({ feed }) => feed)].sort(([a], [b]) => a.localeCompare(b));
  const lanes: Lane[] = byFeed.map(([name, own]) => ({ name, runs: own, events: [] }));
  const [from, to] = [Date.parse(axis.from), Date.parse(axis.to)];
  const columns: Column<Lane>[] = [
    [
      'Feed',
      ({ name, runs: own }) => (own.length > 0 ? <a href={`#/feed/${name}`}>{name}</a> : name),
      'head',
    ],
    ['Runs', (lane) => <Bars lane={lane} from={from} to={to} />, 'long', <Axis {...axis} />],
  ];
  const all = events.length === 0 ? lanes : [{ name: 'events', runs: [], events }, ...lanes];
  return <Table class="stacked timeline" columns={columns} rows={all} />;
}

/** A run, or an event beside them, as a row of the table. */
type Line = (Run & { readonly event?: never }) | (Partial<Run> & { readonly event: Event });

const timeOf = ({ event, opened_at: at }: Line): string => event?.at ?? at ?? '';
const number = (value: number | undefined) => value !== undefined && count(value);

const columnsOf = (now: string): Column<Line>[] => [
  ['Began', (line) => moment(timeOf(line), now)],
  ['Feed', ({ feed }) => feed && <a href={`#/feed/${feed}`}>{feed}</a>],
  [
    'State',
    ({ event, state }) => (event ? eventLooks[event.kind][0] : state && <Chip state={state} />),
  ],
  ['Lane', ({ lane }) => lane],
  [
    'Took',
    ({ opened_at: at, ended_at: end }) => at && duration(secondsSince(at, end ?? now)),
    'number',
  ],
  ['Pages', ({ pages }) => number(pages), 'number'],
  ['Rows', ({ rows }) => number(rows), 'number'],
  ['Reason', ({ event, reason }) => event?.sentence ?? reason, 'long'],
];

interface RunTableProps {
  readonly answer: Answer<RunsDocument>;
  readonly now: string;
  readonly isOfOneFeed?: boolean;
}

/** Runs and events, the newest first. */
export function RunTable({ answer, now, isOfOneFeed = false }: RunTableProps) {
  const columns = columnsOf(now).filter(([name]) => !isOfOneFeed || name !== 'Feed');
  const [shown, setShown] = useState(firstRows);
  return (
    <Loaded answer={answer}>
      {({ runs, events }) => {
        const lines: Line[] = [...runs, ...events.map((event) => ({ event }))];
        lines.sort((a, b) => timeOf(b).localeCompare(timeOf(a)));
        return (
          <>
            <Table class="stacked" columns={columns} rows={lines.slice(0, shown)} />
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

/** The last day: which feed ran when, what failed, and what happened to the workers. */
export function Runs({ status }: { readonly status: StatusDocument }) {
  const everyMs = isRunning(status) ? runningMs : restingMs;
  const answer = useJson<RunsDocument>('runs.json', { hours: String(hours) }, everyMs);
  const { runs = [] } = answer.data ?? {};
  const failed = runs.filter(({ state }) => state === 'failed').length;
  const totals = `${counted(runs.length, 'run')}, ${count(failed)} failed`;
  return (
    <Card title={`Runs, ${hours} h`} isMain aside={<p class="quiet">{totals}</p>}>
      {answer.data !== null && <Timeline document={answer.data} />}
      <RunTable answer={answer} now={status.as_of} />
    </Card>
  );
}
