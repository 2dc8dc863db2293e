import type { PlanDocument } from '../documents/plan.ts';
import { columns } from '../terminal/columns.ts';
import type { Look } from '../terminal/look.ts';
import { mark } from '../terminal/mark.ts';
import { compact, counted, duration, percent, whole } from '../terminal/numbers.ts';
import { paint } from '../terminal/paint.ts';
import { wrap } from '../terminal/width.ts';

type Range = PlanDocument['history']['requests'];
type Feed = PlanDocument['feeds'][number];

/** Prose is no wider than that, however wide the terminal is. */
const mostProse = 100;
/** Terminals from which on the table has a column for the time. */
const wide = 72;

/** The plan for people: what all costs, then each feed, then its target. */
export function planText(document: PlanDocument, look: Look): string {
  const width = Math.min(look.columns, mostProse);
  const known = document.feeds.filter(({ history }) => history.requests.most !== null);
  const { unknown } = document.history;
  const lines = [
    ...historyLines(document, known.length > 0, look, width),
    ...wrap(upkeepText(document), width, 2),
    ...(known.length === 0 ? [] : ['', ...feedTable(known, look)]),
    ...(unknown.length === 0 ? [] : wrap(`Too little read: ${unknown.join(', ')}.`, width, 2)),
    ...(unknown.length === 0
      ? []
      : [`Find out:  ${paint(look, 'command', 'explorer-etl plan --probe')}`]),
    ...wrap(targetText(document.feeds), width, 2),
    ...(document.upkeep.fits === false ? wrap(warningText(document, look), width, 2) : []),
  ];
  return `${lines.join('\n')}\n`;
}

function historyLines(
  { history, rate, feeds }: PlanDocument,
  isKnown: boolean,
  look: Look,
  width: number,
): string[] {
  if (!isKnown) {
    const text = `What the history of ${counted(feeds.length, 'feed')} costs is not known: too little was read.`;
    return wrap(text, width, 2);
  }
  const { requests, credits, seconds, seconds_beside_upkeep: beside } = history;
  if (requests.most === 0) return [paint(look, 'strong', 'No history is left to read.')];
  const cost = `History: ${spell(requests, whole)} requests, ${spell(credits, short)} credits.`;
  const perDay =
    rate.daily_credits === null ? '' : ` and ${whole(rate.daily_credits)} credits a day`;
  const [alone, polled] = [timeText(seconds), timeText(beside)];
  const besidePolls = polled === null || polled === alone ? '' : `, ${polled} beside the polls`;
  const time = `It takes ${alone ?? 'for ever'} at ${whole(rate.requests_per_second)} requests/s${perDay}${besidePolls}.`;
  return [
    ...wrap(cost, width, 2).map((line) => paint(look, 'strong', line)),
    ...wrap(time, width, 2),
  ];
}

function upkeepText({ upkeep: { requests, credits }, rate: { daily_credits } }: PlanDocument) {
  const known = credits.most ?? credits.least;
  const share =
    daily_credits === null ? '' : `, ${percent(known / daily_credits)} of the daily credits`;
  return `Polls: ${spell(requests, whole)} requests a day, ${whole(known)} credits${share}.`;
}

function feedTable(feeds: readonly Feed[], look: Look): string[] {
  const isWide = look.columns >= wide;
  return columns(look, {
    head: ['feed', 'left', 'at most', ...(isWide ? ['takes at most'] : []), 'each day'],
    rows: feeds.map(({ feed, history: { requests, seconds }, upkeep }) => [
      feed,
      requests.likely === null ? 'unknown' : short(requests.likely),
      requests.most === null ? '' : short(requests.most),
      ...(isWide ? [seconds.most ? about(seconds.most) : ''] : []),
      spell(upkeep.requests, short),
    ]),
    aligns: ['left', 'right', 'right', 'right', 'right'],
    flexible: 0,
  });
}

/** Which part of the lists is wanted, and who says so: `start` reads no more of them either. */
function targetText(feeds: readonly Feed[]): string {
  const bounded = feeds.flatMap(({ feed, target }) =>
    target.named_by === null ? [] : [{ feed, ...target }],
  );
  if (bounded.length === 0) return 'Target: all there is (no bound is set).';
  const targets = bounded.map(
    ({ feed, named_by, ...target }) => `${feed} ${boundsText(target)} (${named_by})`,
  );
  const isNamed = bounded.some(({ named_by }) => named_by === 'command');
  const all = isNamed ? ' For all there is: backfill --since all, --from-batch 1.' : '';
  return `Target: ${targets.join(', ')}.${all}`;
}

function boundsText({ since, from_batch: from, to_batch: to }: Omit<Feed['target'], 'named_by'>) {
  if (since !== null) return `since ${since.replace(/T00:00:00\.000Z$/u, '')}`;
  const first = whole(from ?? 1);
  return to === null ? `from batch ${first}` : `batches ${first} to ${whole(to)}`;
}

function warningText({ rate, upkeep: { credits } }: PlanDocument, look: Look): string {
  const daily = rate.daily_credits === null ? '' : `${whole(rate.daily_credits)} and `;
  const cost = whole(credits.most ?? credits.least);
  return `${mark(look, 'warning')} Warning: a day's upkeep of ${cost} credits does not fit into ${daily}${whole(rate.requests_per_second)} requests/s: choose wider schedules, a smaller reread, fewer feeds or a larger plan.`;
}

/** `about 55 (at most 60)`, `12`, `at most 121,000`, `at least 288`. */
function spell({ least, likely, most }: Range, spelled: (count: number) => string): string {
  if (most === null) return `at least ${spelled(least)}`;
  if (likely === null) return `at most ${spelled(most)}`;
  const [usual, bound] = [spelled(likely), spelled(most)];
  return usual === bound ? bound : `about ${usual} (at most ${bound})`;
}

/** Null: it never ends. */
const timeText = (seconds: PlanDocument['history']['seconds']): string | null =>
  seconds.most === null ? null : spell({ least: 0, ...seconds }, about);

/** In a column; from a hundred thousand on nobody reads the last digits. */
const short = (count: number) => (count < 100_000 ? whole(count) : compact(count));

/** A time of which nobody reads the seconds after a day. */
function about(seconds: number): string {
  const unit = seconds >= 86_400 ? 3_600 : seconds >= 3_600 ? 60 : 1;
  return duration(Math.round(seconds / unit) * unit);
}
