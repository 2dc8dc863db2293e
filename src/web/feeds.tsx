import type { StripsDocument } from '../status/endpoints.ts';
import type { FeedStatus, StatusDocument } from '../status/schema.ts';
import { isRunning, useJson } from './api.ts';
import { Card } from './card.tsx';
import { Chip, tones } from './chip.tsx';
import { ago, compact, count, counted, decimal, duration, percent } from './format.ts';
import { Axis, Legend, Strip } from './strip.tsx';
import { Table, type Column } from './table.tsx';

const runningMs = 5_000;
const restingMs = 60_000;

/** What counts, and below it what is beside it. Amber if it is later than it should be. */
const two = (main: string, note: string, isMet: boolean | null | undefined = true) => (
  <>
    <span class={isMet === false ? 'wait' : ''}>{main}</span>
    <small>{note}</small>
  </>
);

/** Pages a second while a worker reads, and what is left of the first read. */
function pace({ lanes, left: { ends_in_s: ends } }: FeedStatus) {
  const running = lanes.filter(({ state }) => state === 'running');
  const rate = running.reduce((sum, lane) => sum + (lane.pages_per_second ?? 0), 0);
  const left = ends === null || ends === 0 ? '' : `${duration(ends)} left`;
  return two(rate === 0 ? '–' : `${decimal(rate)} pages/s`, left);
}

const bases = { known: '', estimated: '≈ ', 'at-least': '≥ ', unknown: '' } as const;

/** Which part of the list is verified, as far as its length is known. */
export const verifiedShare = ({ verified: { share, basis } }: FeedStatus): string =>
  share === null ? 'unknown' : bases[basis] + percent(share);

/** A state that is as it should be needs no sentence in the table. */
const isExplained = ({ state }: FeedStatus): boolean => ['act', 'wait'].includes(tones[state]);

const name = (feed: FeedStatus) => (
  <>
    <a href={`#/feed/${feed.feed}`}>
      <small>{feed.chain_name} </small>
      {feed.label}
    </a>
    {isExplained(feed) && <small>{feed.sentence}</small>}
  </>
);

const unlessNone = (value: number, text: string): string => (value === 0 ? '' : text);

const targetOf = ({ target }: FeedStatus['poll']): string =>
  target === null ? '' : `target ${duration(target.seconds)}`;

function columnsOf(now: string, strips: StripsDocument | null): Column<FeedStatus>[] {
  const cells = new Map(strips?.feeds.map((each) => [each.feed, each.cells]));
  const age = (time: string | null | undefined) => (time ? ago(time, now) : '–');
  const axis = strips === null ? 'Coverage' : <Axis from={strips.from} to={strips.to} />;
  return [
    ['Feed', name, 'head'],
    ['State', ({ state }) => <Chip state={state} />],
    [
      'Rows',
      ({ rows, rows_today: today }) =>
        two(count(rows), unlessNone(today, `+${compact(today)} today`)),
      'number',
    ],
    ['Rate', pace, 'number'],
    ['Newest item', ({ newest_item: item }) => two(age(item?.at), '', item?.is_met), 'number'],
    ['Last poll', ({ poll }) => two(age(poll.last_at), targetOf(poll), poll.is_met), 'number'],
    [
      'Verified',
      (feed) =>
        two(
          verifiedShare(feed),
          unlessNone(feed.verified.gaps, counted(feed.verified.gaps, 'gap')),
        ),
      'number',
    ],
    ['Coverage', ({ feed }) => <Strip cells={cells.get(feed) ?? []} />, 'long', axis],
  ];
}

/** Every feed in a row, with its coverage on one time axis. */
export function Feeds({ status }: { readonly status: StatusDocument }) {
  const everyMs = isRunning(status) ? runningMs : restingMs;
  const { data } = useJson<StripsDocument>('strips.json', {}, everyMs);
  return (
    <Card title="Feeds" aside={<Legend />}>
      {status.feeds.length === 0 ? (
        <p class="quiet">No feed is configured yet.</p>
      ) : (
        <Table class="stacked feeds" columns={columnsOf(status.as_of, data)} rows={status.feeds} />
      )}
    </Card>
  );
}
