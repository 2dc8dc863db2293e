import { setTimeout as delay } from 'node:timers/promises';
import { failures } from '../failure.ts';
import { printable } from '../printable.ts';
import type { FeedStatus, StatusDocument } from '../status/schema.ts';
import { bar, columns, fit, widthOf } from '../terminal/layout.ts';
import { type Look, plainLook, paint, type Style } from '../terminal/look.ts';
import { counted, duration, whole } from '../terminal/numbers.ts';
import type { Context, GlobalOptions } from './context.ts';
import type { Screen } from './screen.ts';

interface Sign {
  readonly sign: string;
  readonly style: Style | null;
}

/** The sign and colour of a feed, most severe first. */
export const signs = {
  failed: { sign: '✗', style: 'bad' },
  unsupported: { sign: '–', style: 'quiet' },
  superseded: { sign: '–', style: 'quiet' },
  paused: { sign: '‖', style: 'warning' },
  waiting: { sign: '…', style: 'warning' },
  reading: { sign: ' ', style: null },
  pending: { sign: ' ', style: null },
  finished: { sign: '✓', style: 'good' },
} as const satisfies Record<string, Sign>;

export type TrackState = keyof typeof signs;

/** A feed's progress since the command began. */
export interface Track extends Pick<
  FeedStatus,
  'feed' | 'chain_name' | 'label' | 'rows' | 'pages'
> {
  readonly state: TrackState;
  /** The verified part of its target, from 0 to 1; null: unknown. */
  readonly share: number | null;
  /** Work left, reason to wait, or result; the most important first. */
  readonly notes: readonly string[];
}

/** The progress of feeds between two reads of the status. Pure. */
export function tracksOf(
  names: ReadonlySet<string>,
  before: StatusDocument,
  now: StatusDocument,
): Track[] {
  return now.feeds
    .filter(({ feed }) => names.has(feed))
    .map((status) => {
      const { feed, chain_name, label, verified } = status;
      const first = before.feeds.find((one) => one.feed === feed);
      const state = stateOf(status, first);
      const rows = Math.max(0, status.rows - (first?.rows ?? 0));
      const pages = Math.max(0, status.pages - (first?.pages ?? 0));
      const notes = notesOf(status, state, pages);
      return { feed, chain_name, label, state, share: verified.share, rows, pages, notes };
    });
}

function stateOf(status: FeedStatus, first: FeedStatus | undefined): TrackState {
  const lanes = status.lanes.filter((lane) => hasBegun(lane, first));
  if (lanes.length === 0) return status.state === 'unsupported' ? 'unsupported' : 'pending';
  const has = (...states: readonly Lane['run_state'][]) =>
    lanes.some(({ run_state, reason }) =>
      // After a signal there is no reason.
      states.includes(run_state === 'interrupted' && reason !== null ? 'failed' : run_state),
    );
  if (has('open')) {
    const isHeldUp = status.state === 'failing' || status.state === 'blocked';
    return isHeldUp || lanes.some((lane) => lane.state === 'quiet') ? 'waiting' : 'reading';
  }
  if (!has('failed')) return has('interrupted', 'superseded') ? 'paused' : 'finished';
  return status.failure !== null && failures[status.failure].exit === 0 ? 'unsupported' : 'failed';
}

type Lane = FeedStatus['lanes'][number];

/** A run left by an earlier command is no progress of this one. */
const hasBegun = ({ lane, run_id, run_state }: Lane, first: FeedStatus | undefined) =>
  run_state === 'open' ||
  first?.lanes.some(
    (one) => one.lane === lane && one.run_id === run_id && one.run_state === run_state,
  ) !== true;

function notesOf(status: FeedStatus, state: TrackState, pages: number): string[] {
  const { failure, sentence, left, progress, lanes } = status;
  if (state === 'pending') return [];
  if (state === 'finished') return [counted(pages, 'page')];
  if (state === 'failed') return [failure ?? state];
  if (state === 'waiting') return [printable(sentence ?? failure ?? state)];
  if (state !== 'reading') return [state];
  const pace = lanes.reduce((sum, lane) => sum + (lane.pages_per_second ?? 0), 0);
  const most = left.requests.likely === null ? '≤ ' : '';
  // While it reads, a page at least is to come.
  const end =
    left.ends_in_s === null ? null : `${most}${duration(Math.max(1, left.ends_in_s))} left`;
  return [
    end ?? counted(pages, 'page'),
    ...(progress.reached_at === null ? [] : [`at ${progress.reached_at.slice(0, 10)}`]),
    ...(pace < 1 ? [] : [`${whole(pace)} pages/s`]),
  ];
}

/** Column widths that stay constant while numbers grow: `100 %`, and rows below a million. */
const shareWidth = 5;
const rowsWidth = 7;
/** Columns of a usual line without its bar, and of the widest bar. */
const widthWithoutBar = 74;
const widestBar = 20;

/** A line for each feed: sign and chain, list, bar and share, rows, notes. */
export function trackLines(look: Look, tracks: readonly Track[]): string[] {
  const width = look.isTerminal ? look.columns : plainLook.columns;
  const barWidth = Math.max(0, Math.min(widestBar, width - widthWithoutBar));
  const rows = tracks.map(({ state, chain_name, label, share, rows: stored }, at) => [
    `${signOf(look, state)} ${tracks[at - 1]?.chain_name === chain_name ? '' : printable(chain_name)}`,
    printable(label),
    `${bar(look, share, barWidth)}${percentOf(share).padStart(shareWidth + 1)}`,
    `${whole(stored).padStart(rowsWidth)} rows`,
  ]);
  return columns(look, { rows }).map((line, at) => {
    const { state = 'pending', notes = [] } = tracks[at] ?? {};
    const room = width - widthOf(line) - 2;
    const isFit = (end: number) => widthOf(notes.slice(0, end).join(' · ')) <= room;
    const shown = notes.filter((_, place) => place === 0 || isFit(place + 1));
    const text = fit(shown.join(' · '), room);
    return `${line}  ${state === 'finished' ? text : painted(look, state, text)}`.trimEnd();
  });
}

function painted(look: Look, state: TrackState, text: string): string {
  const { style }: Sign = signs[state];
  return style === null ? text : paint(look, style, text);
}

export const signOf = (look: Look, state: TrackState): string =>
  painted(look, state, signs[state].sign);

/** One decimal below ten, so that progress shows. Incomplete is never 100 %. */
const percentOf = (share: number | null): string => {
  if (share === null) return '';
  const decimals = share < 0.1 ? 1 : 0;
  return `${(Math.floor(share * 100 * 10 ** decimals) / 10 ** decimals).toFixed(decimals)} %`;
};

/** Reading the status takes at most an eleventh of the time; pauses last 0.5 to 5 s. */
const restPerRead = 10;
const leastRestMs = 500;
const mostRestMs = 5_000;

/** Passes the status on regularly. @returns a function that ends it after a last read */
export function watchStatus(
  read: () => Promise<StatusDocument>,
  show: (status: StatusDocument) => void,
): () => Promise<void> {
  const ending = new AbortController();
  const { signal } = ending;
  const watching = (async () => {
    for (let isLast = false; !isLast;) {
      isLast = signal.aborted;
      const begun = performance.now();
      // The work itself reports a failure to read.
      await read().then(show, () => undefined);
      const restMs = Math.max(leastRestMs, restPerRead * (performance.now() - begun));
      await delay(Math.min(mostRestMs, restMs), undefined, { signal }).catch(() => undefined);
    }
  })();
  return async () => {
    ending.abort();
    await watching;
  };
}

interface Watched {
  readonly feeds: ReadonlySet<string>;
  readonly read: () => Promise<StatusDocument>;
}

/**
 * Shows the progress of feeds: a line each, redrawn on a terminal; elsewhere a line when one begins, ends, and each
 * half minute. @returns a function that ends it
 */
export async function showProgress(
  { signal }: Pick<Context, 'signal'>,
  { quiet }: Pick<GlobalOptions, 'quiet'>,
  screen: Screen,
  { feeds, read }: Watched,
): Promise<() => Promise<void>> {
  if (quiet || feeds.size === 0) return async () => undefined;
  const before = await read();
  const plain = plainProgress((text) => screen.write(text));
  const end = watchStatus(read, (now) => {
    const tracks = tracksOf(feeds, before, now);
    const shown = signal.aborted ? tracks.map(stopped) : tracks;
    if (screen.look.isTerminal) screen.lines(trackLines(screen.look, shown));
    else plain(shown, performance.now());
  });
  return async () => {
    await end();
    // The result has a line for each feed.
    screen.clear();
  };
}

/** After a signal, open work waits for the next command. */
const stopped = (track: Track): Track =>
  track.state === 'reading' || track.state === 'waiting'
    ? { ...track, state: 'paused', notes: ['paused'] }
    : track;

/** Half a minute between lines of a feed, in ms: a long run should not fill a log. */
const plainMs = 30_000;

/** Progress without redrawing. @returns a function that takes the tracks, and the time in ms */
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
      const isNew = before === undefined && state === 'reading';
      write(`${track.feed}: ${isNew ? state : plainText(track)}\n`);
    }
  };
}

const plainText = ({ state, share, rows, pages, notes }: Track): string => {
  const isOpen = state === 'reading' || state === 'waiting';
  const counts = [counted(rows, 'row'), counted(pages, 'page')];
  const parts = [isOpen ? percentOf(share) : state, ...counts, ...notes];
  return [...new Set(parts)].filter((part) => part !== '').join(', ');
};
