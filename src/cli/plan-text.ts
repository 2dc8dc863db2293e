import type { PlanDocument } from '../documents/plan.ts';
import { columns } from '../terminal/columns.ts';
import type { Look } from '../terminal/look.ts';
import { mark } from '../terminal/mark.ts';
import { compact, counted, duration, percent, whole } from '../terminal/numbers.ts';
import { paint } from '../terminal/paint.ts';
import { fit, widthOf, wrap } from '../terminal/width.ts';
import { basisText } from './plan-basis.ts';
import { targetLines } from './plan-target.ts';

type Range = PlanDocument['history']['requests'];
type Seconds = PlanDocument['history']['seconds'];
type Bound = PlanDocument['history']['bound_by'];
type Feed = PlanDocument['feeds'][number];
type Reason = NonNullable<Feed['history']['reason']>;

/** Prose is no wider than that, however wide the terminal is. */
const mostProse = 100;

/** The plan for people: what all costs, then each feed, then what a larger plan would change. */
export function planText(document: PlanDocument, look: Look): string {
  const width = Math.min(look.columns, mostProse);
  const known = document.feeds.filter(({ history }) => history.requests.most !== null);
  const lines =
    known.length === 0
      ? nothingKnown(document, look, width)
      : [
          ...totals(document, look, width),
          '',
          ...feedTable(known, look),
          ...reasonLines(known, width),
          ...unknownLine(document, look, width),
          ...targetLines(document.feeds, width),
          ...plansLines(document, look, width),
        ];
  const warnings = document.warnings.flatMap((warning) =>
    warningLines(warning, document, look, width),
  );
  return `${[...lines, ...warnings].join('\n')}\n`;
}

/** Before anything was read: what is known all the same, and how to find out. */
function nothingKnown(document: PlanDocument, look: Look, width: number): string[] {
  const { feeds, rate } = document;
  const isUnread = feeds.every(({ history }) => history.reason === 'never-read');
  const why = isUnread ? 'Nothing was read yet' : 'Too little was read';
  return [
    ...wrap(
      `${why}: what the history of ${counted(feeds.length, 'feed')} costs is not known.`,
      width,
    ),
    `Find out:  ${paint(look, 'command', 'explorer-etl plan --probe')}`,
    ...wrap(
      `           It reads up to 100 pages of each, ${whole(rate.credits_per_request * 100)} credits, and keeps them.`,
      width,
      11,
    ),
    ...wrap(upkeepTotal(document), width, 2),
  ];
}

function totals(document: PlanDocument, look: Look, width: number): string[] {
  const { history, rate } = document;
  if (history.requests.most === 0) {
    return [
      paint(look, 'strong', 'Of the history nothing is left to read.'),
      ...wrap(upkeepTotal(document), width, 2),
    ];
  }
  const first = `History: ${spell(history.requests)} requests, ${shortRange(history.credits)} credits, ${days(history.free_plan_days)} of the free plan.`;
  const pace = `${whole(rate.requests_per_second)} requests/s`;
  const limit =
    rate.daily_credits === null ? '' : ` and ${whole(rate.daily_credits)} credits a day`;
  const beside = besideText(document);
  return [
    ...wrap(first, width, 2).map((line) => paint(look, 'strong', line)),
    ...wrap(`It takes ${span(history.seconds)} at ${pace}${limit}${beside}.`, width, 2),
    ...wrap(upkeepTotal(document), width, 2),
  ];
}

/** Where the upkeep, which goes first, makes a difference to the end. */
function besideText({ history: { seconds, seconds_beside_upkeep: beside } }: PlanDocument): string {
  if (beside === null || seconds.most === null || beside < seconds.most * 1.1) return '';
  return `, and up to ${about(beside)} beside the upkeep`;
}

function upkeepTotal({ upkeep }: PlanDocument): string {
  const { requests, credits, free_plan_days: share } = upkeep;
  return `Upkeep: ${spell(requests)} requests a day, ${spell(leastAlone(credits))} credits, ${dayShare(leastAlone(share))} of the free plan.`;
}

/** That it is the least is told once in a sentence. */
const leastAlone = ({ least, likely, most }: Range): Range =>
  most === null ? { least, likely: least, most: least } : { least, likely, most };

/** Terminals from which on a column is worth its place. */
const widths = { ends: 72, done: 90, basis: 120 };

function feedTable(feeds: readonly Feed[], look: Look): string[] {
  const isShown = (least: number) => look.columns >= least;
  const cells = (...row: readonly [string, string, string, string, string, string]) => {
    const [feed, done, left, ends, upkeep, basis] = row;
    return [
      feed,
      ...(isShown(widths.done) ? [done] : []),
      left,
      ...(isShown(widths.ends) ? [ends] : []),
      upkeep,
      ...(isShown(widths.basis) ? [basis] : []),
    ];
  };
  return columns(look, {
    head: cells('feed', 'read', 'left', 'ends in', 'each day', 'each day is'),
    rows: feeds.map(({ feed, done, history, upkeep }) =>
      cells(
        feed,
        short(done.requests),
        history.requests.most === 0 ? 'nothing' : shortRange(history.requests),
        history.requests.most === 0 ? '' : latest(history.seconds),
        shortRange(upkeep.requests),
        basisText(upkeep.basis),
      ),
    ),
    aligns: isShown(widths.done)
      ? ['left', 'right', 'right', 'right', 'right', 'left']
      : ['left', 'right', 'right', 'right'],
    flexible: isShown(widths.basis) ? 5 : 0,
  });
}

/** Why numbers are ranges, in the words of a person. */
const reasons: Readonly<Record<Reason, string>> = {
  'never-read': 'nothing was read yet',
  'density-unknown': 'too little was read to tell how dense the list is',
  'start-unknown': "the list's start is unknown",
  'density-varies': 'pages beside what is left differ in density',
  'newest-unknown': 'the newest batch was not searched yet',
  'size-unknown': 'no batch was read; each usually takes 3 to 29 pages',
  'interval-unknown': 'too few batches were read to tell how often one comes',
  'length-unknown': 'a ranking tells its length at its end',
  'reread-varies': 'a batch is read again only until it is proved',
};

function reasonLines(feeds: readonly Feed[], width: number): string[] {
  const told = feeds.flatMap((feed) =>
    [...new Set([feed.history.reason, feed.upkeep.reason])].flatMap((reason) =>
      reason === null ? [] : [{ reason, feed }],
    ),
  );
  return [...Map.groupBy(told, ({ reason }) => reason)].map(([reason, of]) => {
    const lists = Map.groupBy(of, ({ feed }) => feed.operation);
    // Of several chains the list's name says all.
    const names = [...lists].map(([list, [one, other]]) =>
      one === undefined || other !== undefined ? list : one.feed.feed,
    );
    return named(`Range: ${reasons[reason]}: `, names, '', width);
  });
}

/** One line for all that is in no sum. */
function unknownLine({ feeds, history }: PlanDocument, look: Look, width: number): string[] {
  const { unknown } = history;
  if (unknown.length === 0) return [];
  const isUnread = feeds.every(
    ({ feed, history: { reason } }) => !unknown.includes(feed) || reason === 'never-read',
  );
  const probe = `; ${paint(look, 'command', 'explorer-etl plan --probe')}`;
  return [named(`${isUnread ? 'Never read' : 'Too little read'}: `, unknown, probe, width)];
}

/** Names in one line: as many as fit, and how many more there are. */
function named(before: string, names: readonly string[], after: string, width: number): string {
  for (let shown = names.length; shown > 1; shown -= 1) {
    const more = names.length - shown;
    const list = names.slice(0, shown).join(', ') + (more === 0 ? '' : ` and ${more} more`);
    const line = `${before}${list}${after}`;
    if (widthOf(line) <= width) return line;
  }
  const [first = ''] = names;
  const more = names.length > 1 ? ` and ${names.length - 1} more` : '';
  return fit(`${before}${first}${more}${after}`, width);
}

function plansLines({ plans, history }: PlanDocument, look: Look, width: number): string[] {
  if (history.seconds.most === 0) return [];
  const { bound_by: bound, seconds } = history;
  const isHelpless = plans.every(
    (plan) => (plan.seconds.most ?? Infinity) >= (seconds.most ?? Infinity),
  );
  if (isHelpless && bound?.kind === 'latency') {
    const text = `A larger plan would not help: bound by ${boundText(bound).replace(':', ',')} (${bound.feed}).`;
    return ['', ...wrap(text, width, 2)];
  }
  const alike = Map.groupBy(plans, (plan) =>
    JSON.stringify([latest(plan.seconds), boundText(plan.bound_by), plan.upkeep_fits]),
  );
  const isWide = look.columns >= widths.ends;
  return [
    '',
    ...columns(look, {
      head: ["the service's plans", 'ends in', 'bound by', ...(isWide ? ['upkeep'] : [])],
      rows: [...alike.values()].flatMap((group) => {
        const [plan] = group;
        if (plan === undefined) return [];
        const fits = plan.upkeep_fits === null ? 'unknown' : plan.upkeep_fits ? 'fits' : 'too much';
        return [
          [
            group.map((one) => planName(one)).join(', '),
            latest(plan.seconds),
            boundText(plan.bound_by),
            ...(isWide ? [fits] : []),
          ],
        ];
      }),
      aligns: ['left', 'right', 'left', 'left'],
      flexible: 2,
    }),
  ];
}

const planName = ({ plan, requests_per_second: rate }: PlanDocument['plans'][number]) =>
  plan === 'free' ? plan : `${rate}/s`;

function boundText(bound: Bound): string {
  if (bound === null) return '';
  if (bound.kind === 'credits') return `${whole(bound.daily_credits)} credits a day`;
  const pace = `${bound.requests_per_second} requests/s`;
  return bound.kind === 'rate' ? pace : `latency: ${pace} at ${whole(bound.latency_ms)} ms`;
}

function warningLines(
  { kind }: PlanDocument['warnings'][number],
  { rate, upkeep }: PlanDocument,
  look: Look,
  width: number,
): string[] {
  const advice = 'choose wider schedules, a smaller reread, fewer feeds or a larger plan';
  const credits = rate.daily_credits === null ? '' : `${whole(rate.daily_credits)} and `;
  const what =
    kind === 'upkeep-does-not-fit'
      ? `a day's upkeep of ${whole(upkeep.credits.most ?? upkeep.credits.least)} credits does not fit into ${credits}${whole(rate.requests_per_second)} requests/s`
      : 'beside its upkeep the history is never read';
  return wrap(`${mark(look, 'warning')} Warning: ${what}: ${advice}.`, width, 2);
}

/** `about 55 (at most 60)`, `12`, `60 to 580`, `at most 121,000`, `at least 288`. */
const spell = (range: Range) => rangeText(range, whole);
const shortRange = (range: Range) => rangeText(range, short);

function rangeText({ least, likely, most }: Range, spelled: (count: number) => string): string {
  if (most === null) return `at least ${spelled(least)}`;
  const [from, to] = [spelled(least), spelled(most)];
  if (from === to) return to;
  if (likely !== null) return `about ${spelled(likely)} (at most ${to})`;
  // So wide a range tells nothing but where it ends.
  return least * 10 <= most ? `at most ${to}` : `${from} to ${to}`;
}

/** In a column; from a hundred thousand on nobody reads the last digits. */
const short = (count: number) => (count < 100_000 ? whole(count) : compact(count));

/** A time of which nobody reads the seconds after a day. */
function about(seconds: number): string {
  const unit = seconds >= 86_400 ? 3_600 : seconds >= 3_600 ? 60 : 1;
  return duration(Math.round(seconds / unit) * unit);
}

const never = 'more than 100 years';

function span({ least, most }: Seconds): string {
  if (least === null) return never;
  const [from, to] = [about(least), most === null ? never : about(most)];
  return from === to ? to : `${from} to ${to}`;
}

/** When it ends at the latest. */
function latest({ least, most }: Seconds): string {
  if (most === null) return 'never';
  const to = about(most);
  return least === null || about(least) === to ? to : `up to ${to}`;
}

const twoDigits = new Intl.NumberFormat('en-US', { maximumSignificantDigits: 2 });
const spellDays = (count: number) => (count < 10 ? twoDigits.format(count) : whole(count));
const days = (range: Range) =>
  `${rangeText(range, spellDays)} ${range.least === 1 && range.most === 1 ? 'day' : 'days'}`;

const dayShare = (share: Range) => rangeText(share, percent);
