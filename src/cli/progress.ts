import { setTimeout as delay } from 'node:timers/promises';
import type { Settings } from '../config/settings.ts';
import { failures } from '../failure.ts';
import { feedName } from '../lists/feed.ts';
import { operations } from '../lists/registry.ts';
import { printable } from '../printable.ts';
import type { FeedStatus, StatusDocument } from '../status/schema.ts';
import type { SyncTarget } from '../sync/once.ts';
import { bar } from '../terminal/bar.ts';
import { columns } from '../terminal/columns.ts';
import { type Look, plainLook } from '../terminal/look.ts';
import { counted, duration, whole } from '../terminal/numbers.ts';
import { paint, type Style } from '../terminal/paint.ts';
import { fit, widthOf } from '../terminal/width.ts';
import type { Context, GlobalOptions } from './context.ts';
import type { Screen } from './screen.ts';

/** A feed that a command works on, and what people call it. */
export interface WatchedFeed {
  readonly feed: string;
  readonly chain: string;
  readonly list: string;
  /** Pages to read at most; null: all there are. */
  readonly mostPages: number | null;
}

type TrackState = 'pending' | 'reading' | 'waiting' | 'done' | 'paused' | 'failed' | 'unsupported';

/** What has become of a feed since a command began. All text is fit for a terminal. */
export interface Track extends Pick<WatchedFeed, 'feed' | 'chain' | 'list'> {
  readonly state: TrackState;
  /** From 0 to 1; null while the whole's length is unknown. */
  readonly share: number | null;
  readonly rows: number;
  readonly pages: number;
  /** What is left, what it waits for, or how it ended; the most important first. */
  readonly notes: readonly string[];
}

/** The feeds of some targets, under the names of the configuration. */
export function watchedFeeds(
  { chains }: Pick<Settings, 'chains'>,
  targets: readonly SyncTarget[],
  mostPages: number | null = null,
): WatchedFeed[] {
  return [...Map.groupBy(targets, ({ lane }) => feedName(lane))].flatMap(([feed, [first]]) => {
    if (first === undefined) return [];
    const { chain_id, operation } = first.lane;
    const chain = chains.find(({ id }) => id === chain_id)?.name ?? String(chain_id);
    const { max_pages } = first.scope;
    const most = mostPages ?? (typeof max_pages === 'number' ? max_pages : null);
    const { list } = operations[operation].guide;
    return [{ feed, chain: printable(chain), list, mostPages: most }];
  });
}

/** A rate is taken from the last 30 seconds, which hold a page of a slow service. */
const rateWindow_s = 30;
/** A shorter time gives no rate. */
const leastRate_s = 1.5;

/** What a feed has come to, at a time of the database's clock in seconds. */
interface Sample {
  readonly at_s: number;
  readonly rows: number;
  readonly pages: number;
}

/** A feed over time. */
interface Followed {
  readonly watched: WatchedFeed;
  /** Before the command began; undefined: it was not registered. */
  readonly first: FeedStatus | undefined;
  samples: readonly Sample[];
  /** The requests that were left when that number changed last, and the pages by then. */
  estimate: { readonly requests: number; readonly pages: number } | null;
  began_s: number | null;
  ended_s: number | null;
}

/**
 * Follows feeds from how they were before a command began. Pure but for what it remembers.
 *
 * @returns takes the status now
 */
export function followFeeds(
  feeds: readonly WatchedFeed[],
  before: StatusDocument,
): (now: StatusDocument) => Track[] {
  const all = feeds.map((watched): Followed => ({
    watched,
    first: feedOf(before, watched),
    samples: [],
    estimate: null,
    began_s: null,
    ended_s: null,
  }));
  return (now) => all.map((followed) => trackOf(followed, now));
}

const feedOf = ({ feeds }: StatusDocument, { feed }: WatchedFeed) =>
  feeds.find((one) => one.feed === feed);

function trackOf(followed: Followed, now: StatusDocument): Track {
  const { watched, first } = followed;
  const { feed, chain, list } = watched;
  const status = feedOf(now, watched);
  const lanes = status?.lanes.filter((lane) => hasBegun(lane, first)) ?? [];
  const rows = Math.max(0, (status?.rows ?? 0) - (first?.rows ?? 0));
  const pages = Math.max(0, (status?.pages ?? 0) - (first?.pages ?? 0));
  const track = { feed, chain, list, rows, pages, share: null };
  if (status === undefined || lanes.length === 0) {
    const isUnsupported = status?.state === 'unsupported';
    return isUnsupported
      ? { ...track, state: 'unsupported', notes: ['not served'] }
      : { ...track, state: 'pending', notes: [] };
  }
  const at_s = Date.parse(now.as_of) / 1_000;
  followed.began_s ??= at_s;
  const from = followed.samples.findLastIndex((sample) => sample.at_s <= at_s - rateWindow_s);
  followed.samples = [...followed.samples.slice(Math.max(0, from)), { at_s, rows, pages }];
  const state = stateOf(status, lanes);
  followed.ended_s = state === 'reading' ? null : (followed.ended_s ?? at_s);
  if (state === 'done') {
    const took_s = (followed.ended_s ?? at_s) - followed.began_s;
    return { ...track, state, share: 1, notes: [duration(rounded(took_s))] };
  }
  const left = requestsLeft(followed, status, pages);
  const share = shareOf(followed, pages, left);
  if (state !== 'reading') return { ...track, state, share, notes: [endNote(status, state)] };
  const wait = waitOf(followed, status, now);
  return wait === null
    ? { ...track, state, share, notes: paceNotes(followed.samples, status, left) }
    : { ...track, state: 'waiting', share, notes: [wait] };
}

type Lane = FeedStatus['lanes'][number];

/** What an earlier command left as its last run is no progress of this one. */
const hasBegun = ({ lane, run_id, run_state }: Lane, first: FeedStatus | undefined) =>
  run_state === 'open' ||
  first?.lanes.some(
    (one) => one.lane === lane && one.run_id === run_id && one.run_state === run_state,
  ) !== true;

/** A run that a signal or other bounds ended has no failure. */
function stateOf({ failure }: FeedStatus, lanes: readonly Lane[]): TrackState {
  if (lanes.some(({ run_state }) => run_state === 'open')) return 'reading';
  if (lanes.every(({ run_state }) => run_state === 'finished')) return 'done';
  const isFailed = lanes.some(
    ({ run_state, reason }) =>
      run_state === 'failed' || (run_state === 'interrupted' && reason !== null),
  );
  if (!isFailed) return 'paused';
  return failure !== null && failures[failure].exit === 0 ? 'unsupported' : 'failed';
}

const endNote = ({ failure }: FeedStatus, state: TrackState): string =>
  state === 'paused' ? 'paused' : state === 'unsupported' ? 'not served' : (failure ?? 'failed');

/** Requests that are left of its target, less those that were made since it was estimated. */
function requestsLeft(followed: Followed, { left }: FeedStatus, pages: number): number | null {
  const { mostPages } = followed.watched;
  if (mostPages !== null) return Math.max(0, mostPages - pages);
  const requests = left.requests.likely ?? left.requests.most;
  if (requests === null || (requests === 0 && followed.estimate === null)) return null;
  if (followed.estimate?.requests !== requests) followed.estimate = { requests, pages };
  // While it reads, one page at least is to come.
  return Math.max(1, requests - (pages - followed.estimate.pages));
}

/** Of the target, what was verified before the command began counts too. */
function shareOf({ watched, first }: Followed, pages: number, left: number | null): number | null {
  if (left === null) return null;
  const part = pages / Math.max(1, pages + left);
  const before = watched.mostPages === null ? (first?.verified.share ?? 0) : 0;
  return before < 1 ? before + (1 - before) * part : part;
}

/** What keeps a feed from its next page; null: nothing does. */
function waitOf(followed: Followed, status: FeedStatus, now: StatusDocument): string | null {
  const open = status.lanes.filter(({ run_state }) => run_state === 'open');
  if (open.some(({ state }) => state === 'running') && hasMoved(followed.samples)) return null;
  const backsOff = open.find(({ state, until }) => state === 'backing-off' && until !== null);
  const paused = now.credits.keys.find(({ paused_until }) => secondsTo(paused_until, now) > 0);
  if (backsOff !== undefined) {
    const why = status.failure === null ? '' : `: ${status.failure}`;
    return `retry in ${duration(secondsTo(backsOff.until, now))}${why}`;
  }
  if (paused !== undefined) {
    const what = paused.failure === 'out-of-credits' ? 'credits' : 'the key';
    return `waits ${duration(secondsTo(paused.paused_until, now))} for ${what}`;
  }
  const quiet = open.find(({ state }) => state === 'quiet');
  if (quiet !== undefined) return `no response for ${duration(quiet.quiet_s ?? 0)}`;
  return open.some(({ state }) => state === 'running') ? null : 'waits for its turn';
}

/** Whether its last page came since it was looked at before. */
const hasMoved = (samples: readonly Sample[]) => samples.at(-1)?.pages !== samples.at(-2)?.pages;

const secondsTo = (time: string | null, { as_of }: StatusDocument): number =>
  time === null ? 0 : Math.max(0, Math.ceil((Date.parse(time) - Date.parse(as_of)) / 1_000));

/** To a tenth below ten, else whole. */
const rounded = (seconds: number) =>
  seconds < 10 ? Math.round(seconds * 10) / 10 : Math.round(seconds);

/** The time left at the pace of the last while, how far back it has come, and its rows a second. */
function paceNotes(
  samples: readonly Sample[],
  { progress, left }: FeedStatus,
  requests: number | null,
): string[] {
  const [first, last] = [samples[0], samples.at(-1)];
  const passed = first === undefined || last === undefined ? 0 : last.at_s - first.at_s;
  if (first === undefined || last === undefined || passed < leastRate_s) return [];
  const pages = (last.pages - first.pages) / passed;
  const rows = (last.rows - first.rows) / passed;
  const most = left.requests.likely === null ? '≤ ' : '';
  return [
    ...(requests === null || pages === 0
      ? [counted(last.pages, 'page')]
      : [`${most}${duration(Math.ceil(requests / pages))} left`]),
    ...(progress.reached_at === null ? [] : [`at ${progress.reached_at.slice(0, 10)}`]),
    ...(rows < 1 ? [] : [`${whole(rows)} rows/s`]),
  ];
}

/** The sign before a feed, and its colour. */
const signs: Readonly<Record<TrackState, { readonly sign: string; readonly style: Style | null }>> =
  {
    pending: { sign: ' ', style: null },
    reading: { sign: ' ', style: null },
    waiting: { sign: '…', style: 'warning' },
    done: { sign: '✓', style: 'good' },
    paused: { sign: '‖', style: 'warning' },
    failed: { sign: '✗', style: 'bad' },
    unsupported: { sign: '–', style: 'quiet' },
  };

/** Columns that stay as wide as this while numbers grow: `100 %`, and rows up to a million. */
const labelWidth = 5;
const rowsWidth = 7;
/** Columns that a usual line takes without its bar, and those of the widest bar. */
const widthWithoutBar = 74;
const widestBar = 20;

/** A line for each feed below a head: sign and chain, list, bar and share, rows, notes. */
export function trackLines(look: Look, tracks: readonly Track[]): string[] {
  const width = look.isTerminal ? look.columns : plainLook.columns;
  const barWidth = Math.max(0, Math.min(widestBar, width - widthWithoutBar));
  const painted = ({ state }: Track, text: string) => {
    const { style } = signs[state];
    return style === null ? text : paint(look, style, text);
  };
  const rows = tracks.map((track, at) => [
    `${painted(track, signs[track.state].sign)} ${tracks[at - 1]?.chain === track.chain ? '' : track.chain}`,
    track.list,
    `${bar(look, track.share, barWidth)}${percentOf(track.share).padStart(labelWidth + 1)}`,
    whole(track.rows).padStart(rowsWidth),
  ]);
  const aligns = ['left', 'left', 'left', 'right'] as const;
  const [head = '', ...lines] = columns(look, { head: ['', '', '', 'rows'], rows, aligns });
  return [
    head,
    ...lines.map((line, at) => {
      const track = tracks[at];
      if (track === undefined) return line;
      const room = width - widthOf(line) - 2;
      const notes = fit(fitting(track.notes, room), room);
      return `${line}  ${track.state === 'done' ? notes : painted(track, notes)}`.trimEnd();
    }),
  ];
}

/** As many notes as there is room for, and the first in any case. */
const fitting = ([first = '', ...others]: readonly string[], room: number): string =>
  others.reduce((text, note) => {
    const longer = `${text} · ${note}`;
    return widthOf(longer) <= room ? longer : text;
  }, first);

/** Tenths below ten, where they show that it moves. What is not the whole is never called 100 %. */
const percentOf = (share: number | null): string => {
  if (share === null) return '';
  const decimals = share < 0.1 ? 1 : 0;
  return `${(Math.floor(share * 100 * 10 ** decimals) / 10 ** decimals).toFixed(decimals)} %`;
};

/** Shows progress until it ends. */
export interface Progress {
  end(): Promise<void>;
}

interface Watched {
  readonly feeds: readonly WatchedFeed[];
  readonly read: () => Promise<StatusDocument>;
}

/** Reading the status takes an eleventh of the time, and is done between twice a second and every 5 s. */
const restPerRead = 10;
const leastRestMs = 500;
const mostRestMs = 5_000;

/** Reads the status now and then, and passes on what has become of the feeds since the first time. */
async function watchFeeds(
  { feeds, read }: Watched,
  onTracks: (tracks: readonly Track[]) => void,
): Promise<Progress> {
  const before = await read();
  const follow = followFeeds(feeds, before);
  onTracks(follow(before));
  const ending = new AbortController();
  const { signal } = ending;
  let restMs = leastRestMs;
  const look = async () => {
    const begun = performance.now();
    onTracks(follow(await read()));
    restMs = Math.min(mostRestMs, Math.max(leastRestMs, restPerRead * (performance.now() - begun)));
  };
  const watching = (async () => {
    while (!signal.aborted) {
      await delay(restMs, undefined, { signal }).catch(() => undefined);
      // What cannot be read here, the work itself reports.
      if (!signal.aborted) await look().catch(() => undefined);
    }
  })();
  return {
    async end() {
      ending.abort();
      await watching;
      await look().catch(() => undefined);
    },
  };
}

/** Shows how feeds get on: a line each, redrawn on a terminal; elsewhere a line where one begins, ends, and now and then. */
export async function showProgress(
  context: Context,
  { quiet }: Pick<GlobalOptions, 'quiet'>,
  screen: Screen,
  watched: Watched,
): Promise<Progress> {
  if (quiet || watched.feeds.length === 0) return { end: async () => undefined };
  const plain = plainProgress((text) => screen.write(text));
  const draw = (tracks: readonly Track[]) => {
    const shown = context.signal.aborted ? tracks.map(stoppedTrack) : tracks;
    if (screen.look.isTerminal) screen.lines(trackLines(screen.look, shown));
    else plain(shown, performance.now());
  };
  const watch = await watchFeeds(watched, draw);
  return {
    async end() {
      await watch.end();
      // The result of the command has a line of each feed.
      screen.clear();
    },
  };
}

/** After a signal nothing is read; what is open waits for the next command. */
const stoppedTrack = (track: Track): Track =>
  track.state === 'reading' || track.state === 'waiting'
    ? { ...track, state: 'paused', notes: ['paused'] }
    : track;

/** A feed that reads says so every half minute, so that a long run does not fill a log. */
const plainMs = 30_000;

/** Progress where nothing can be redrawn. @returns takes the tracks, and the time in ms */
export function plainProgress(
  write: (text: string) => void,
): (tracks: readonly Track[], at: number) => void {
  const written = new Map<string, { readonly state: TrackState; readonly at: number }>();
  return (tracks, at) => {
    for (const track of tracks) {
      const state = track.state === 'waiting' ? 'reading' : track.state;
      const before = written.get(track.feed);
      const isDue = state === 'reading' && at - (before?.at ?? 0) >= plainMs;
      if (state === 'pending' || (before?.state === state && !isDue)) continue;
      written.set(track.feed, { state, at });
      write(
        `${track.feed}: ${before === undefined && state === 'reading' ? state : plainText(track)}\n`,
      );
    }
  };
}

const plainText = ({ state, share, rows, pages, notes }: Track): string =>
  [
    ...(state === 'reading' || state === 'waiting' ? [percentOf(share)] : [state]),
    counted(rows, 'row'),
    counted(pages, 'page'),
    ...notes,
  ]
    .filter((part) => part !== '' && part !== 'paused')
    .join(', ');
