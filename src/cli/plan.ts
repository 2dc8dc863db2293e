import { isPrepared } from '../db/state.ts';
import { creditsPerRequest } from '../explorer/budget.ts';
import { readCredits, sumCredits } from '../status/credits.ts';
import { planDocument, type PlanDocument, planFeeds, planOf } from '../status/plan.ts';
import { type Look, mark, paint, prose, tableLines } from '../terminal/layout.ts';
import { compact, counted, duration, percent, whole } from '../terminal/numbers.ts';
import type { Context, Registry } from './context.ts';
import { openFor } from './database.ts';
import { ownOrDemo } from './demo-world.ts';
import { addFeedOptions, type ChosenFeeds } from './options.ts';

export function register({ command, run, explain }: Registry): void {
  addFeedOptions(command).action(run(printPlan));
  explain(
    ['explorer-etl plan', 'explorer-etl plan --chain 10'],
    'Makes no request: it goes by what was downloaded before.',
  );
}

async function printPlan(context: Context, options: ChosenFeeds) {
  const settings = ownOrDemo(context, options);
  const { explorer } = settings;
  await using database = await openFor(settings, context, 'previews');
  const at = new Date();
  // A plan changes nothing, so it creates no tables.
  const db = (await isPrepared(database.pool)) ? database.db : null;
  const feeds = await planFeeds(db, settings, { pageSize: explorer.pageSize, at });
  const { spent } = sumCredits(db === null ? [] : (await readCredits(db)).keys);
  const plan = planOf(feeds, explorer, { at, spentToday: spent / creditsPerRequest });
  return context.print(planDocument, plan, planText(plan, context.out));
}

type Requests = PlanDocument['history']['requests'];
type Feed = PlanDocument['feeds'][number];

/** The plan for people: total cost, then each feed, then its target. */
export function planText(document: PlanDocument, look: Look): string {
  const { feeds, history, polls } = document;
  const known = feeds.filter((feed) => feed.history.requests.most !== null);
  const lines = [
    ...historyLines(document, known.length > 0, look),
    ...prose(look, pollsText(document)),
    ...(known.length === 0 ? [] : ['', ...feedTable(known, look)]),
    ...(history.unknown.length === 0 ? [] : prose(look, unknownText(history.unknown))),
    ...prose(look, targetText(feeds)),
    ...(polls.fits === false ? prose(look, warningText(document, look)) : []),
  ];
  return `${lines.join('\n')}\n`;
}

function historyLines({ history, rate, feeds }: PlanDocument, isKnown: boolean, look: Look) {
  if (!isKnown) {
    const all = counted(feeds.length, 'feed');
    return prose(look, `The cost of the history of ${all} is unknown: too little is downloaded.`);
  }
  const { requests, credits, seconds, seconds_beside_polls: beside } = history;
  if (requests.most === 0) return [paint(look, 'strong', 'No history is left to download.')];
  const cost = `History: ${rangeText(requests, whole)} requests, ${rangeText(credits, short)} credits.`;
  const perDay =
    rate.daily_credits === null ? '' : ` and ${whole(rate.daily_credits)} credits a day`;
  const [alone, polled] = [timeText(seconds), timeText(beside)];
  const besidePolls = polled === null || polled === alone ? '' : `, ${polled} beside the polls`;
  const pace = `${whole(rate.requests_per_second)} requests/s${perDay}`;
  return [
    ...prose(look, cost).map((line) => paint(look, 'strong', line)),
    ...prose(look, `It takes ${alone ?? 'for ever'} at ${pace}${besidePolls}.`),
  ];
}

const unknownText = (feeds: readonly string[]): string =>
  `Size unknown, too little downloaded: ${feeds.join(', ')}. To learn it, start a sync and stop it with Ctrl-C after a minute: it resumes later.`;

function pollsText({ polls: { requests, credits }, rate: { daily_credits } }: PlanDocument) {
  const known = credits.most ?? credits.least;
  const share =
    daily_credits === null ? '' : `, ${percent(known / daily_credits)} of the daily credits`;
  return `Polls: ${rangeText(requests, whole)} requests a day, ${whole(known)} credits${share}.`;
}

const feedTable = (feeds: readonly Feed[], look: Look): string[] =>
  tableLines(look, {
    head: ['feed', 'left', 'at most', 'each day'],
    rows: feeds.map(({ feed, history: { requests }, polls }) => [
      feed,
      requests.likely === null ? 'unknown' : short(requests.likely),
      requests.most === null ? '' : short(requests.most),
      rangeText(polls.requests, short),
    ]),
    aligns: ['left', 'right', 'right', 'right'],
    flexible: [0],
  });

/** The configured part of the lists, and where it is set. */
function targetText(feeds: readonly Feed[]): string {
  const bounded = feeds.flatMap(({ feed, target }) =>
    target.named_by === null ? [] : [{ feed, ...target }],
  );
  if (bounded.length === 0) return 'Target: whole lists (no bound is set).';
  const targets = bounded.map(
    ({ feed, named_by, ...target }) => `${feed} ${boundsText(target)} (${named_by})`,
  );
  const isNamed = bounded.some(({ named_by }) => named_by === 'command');
  const all = isNamed ? ' For whole lists: backfill --since all, --from-batch 1.' : '';
  return `Target: ${targets.join(', ')}.${all}`;
}

function boundsText({ since, from_batch: from, to_batch: to }: Omit<Feed['target'], 'named_by'>) {
  // As people write it: no time at midnight, no empty milliseconds.
  if (since !== null) return `since ${since.replace(/T00:00:00\.000Z$|(?<=:\d\d)\.000/u, '')}`;
  const first = whole(from ?? 1);
  return to === null ? `from batch ${first}` : `batches ${first} to ${whole(to)}`;
}

function warningText({ rate, polls: { credits } }: PlanDocument, look: Look): string {
  const daily = rate.daily_credits === null ? '' : `${whole(rate.daily_credits)} credits and `;
  const cost = whole(credits.most ?? credits.least);
  return `${mark(look, 'warning')} Warning: a day of polls (${cost} credits) does not fit into ${daily}${whole(rate.requests_per_second)} requests/s: choose wider schedules, a smaller reread, fewer feeds or a larger plan.`;
}

/** `about 55 (at most 60)`, `12`, `at most 121,000`, `at least 288`. */
function rangeText({ least, likely, most }: Requests, format: (count: number) => string): string {
  if (most === null) return `at least ${format(least)}`;
  if (likely === null) return `at most ${format(most)}`;
  const [usual, bound] = [format(likely), format(most)];
  return usual === bound ? bound : `about ${usual} (at most ${bound})`;
}

/** Null: it never ends. */
const timeText = (seconds: PlanDocument['history']['seconds']): string | null =>
  seconds.most === null ? null : rangeText({ least: 0, ...seconds }, duration);

/** For a column; from 100,000 on, the last digits do not matter. */
const short = (count: number) => (count < 100_000 ? whole(count) : compact(count));
