import { failures } from '../failure.ts';
import { printable } from '../printable.ts';
import { counted, duration, gigabytes } from '../terminal/numbers.ts';
import { clock } from '../time.ts';
import { isRefusedInUse } from './credits.ts';
import { sum } from './estimate.ts';
import type { OverallFacts } from './facts.ts';
import { isAtWork, isStalled } from './lanes.ts';
import { isWaiting, outageOf } from './outages.ts';
import type { FeedStatus, StatusDocument } from './schema.ts';

const untilText = (until: string | null, at: Date, about = '') =>
  until === null ? '' : ` until ${about}${clock(until, at)}`;

const inTime = (times: readonly (string | null)[]): string[] =>
  times
    .filter((time) => time !== null)
    .toSorted((one, other) => Date.parse(one) - Date.parse(other));

/** The earliest known time; null: none is known. */
export const earliest = (times: readonly (string | null)[]) => inTime(times)[0] ?? null;
export const latest = (times: readonly (string | null)[]) => inTime(times).at(-1) ?? null;

export const lastPageAt = (feeds: readonly FeedStatus[]) =>
  latest(feeds.map(({ last_page_at }) => last_page_at));

export const positions = (count: number, { unit }: FeedStatus) =>
  unit === 'batches' ? counted(count, 'batch', 'batches') : counted(count, unit.slice(0, -1));

/** A stored reason without its advice, which has its own field. */
export function reasonIn({ failure, sentence }: Pick<FeedStatus, 'failure' | 'sentence'>): string {
  const advice = failure === null ? '' : failures[failure].advice;
  const text = (sentence ?? failure ?? 'failed').replace(advice, '').trim();
  return /[.!?]$/u.test(text) ? text : `${text}.`;
}

/** A reason without its class, or an advice without the cause that it repeats. */
export const withoutCause = (sentence: string) =>
  sentence.replace(/^[^:]*: (.)/u, (_, first: string) => first.toUpperCase());

const share = 'history-share';

/** What an explorer does not serve. */
export function unservedText(failure: FeedStatus['failure']): string {
  if (failure === 'not-found') return 'The explorer serves nothing at this address';
  return `The explorer does not serve this ${failure === 'unknown-chain' ? 'chain' : 'list on this chain'}`;
}

/** Why its history waits for credits, in a sentence; null: it does not. */
export function historyWaits({ lanes }: FeedStatus): string | null {
  const { reason = null } =
    lanes.find((one) => one.lane === 'backfill' && one.state === 'backing-off') ?? {};
  return reason?.startsWith(`${share}:`) === true
    ? withoutCause(reasonIn({ failure: share, sentence: reason }))
    : null;
}

/** What an outage is, since when, and when it is tested next. */
export function outageText(feed: FeedStatus, facts: OverallFacts): string {
  const outage = outageOf(feed, facts.outages);
  if (outage === null) return '';
  return `${outage.sentence}; ${nextTryText(outage.next_try_at, facts)}.`;
}

function nextTryText(time: string, { at, workers }: OverallFacts): string {
  const next = new Date(Math.max(Date.parse(time), at.getTime())).toISOString();
  return isAtWork(workers) ? `next try ${next.slice(11, 19)} UTC` : 'no worker tries again';
}

/** What of the work beside the pages fails. */
export const maintenanceText = ({ maintenance, at }: OverallFacts): string =>
  maintenance
    .map(
      ({ task, reason, since }) =>
        `${task === 'sums' ? 'Daily sums, senders and batch_stats have not been updated' : 'Expired rows have not been deleted'} since ${clock(since, at)}: ${reason}.`,
    )
    .join(' ');

/** Until when the explorer takes no request of the key, and the next try if that is earlier, which tests the pause. */
export function waitText(feed: FeedStatus, facts: OverallFacts, what: string): string {
  const { feeds, credits, at } = facts;
  const those = feeds.filter((one) => isWaiting(one) && one.failure === feed.failure);
  const paused = credits.keys.filter(({ failure }) => failure === feed.failure);
  // An idle lane has the time of its next poll.
  const waiting = those.flatMap(({ lanes }) => lanes.filter(({ state }) => state !== 'idle'));
  const next = earliest(waiting.map(({ until }) => until));
  const end = earliest(paused.map(({ paused_until }) => paused_until)) ?? next;
  const isTested = next !== null && end !== null && Date.parse(next) < Date.parse(end);
  // The wait is over, and nothing has requested since.
  if (end === null) return `The key was ${what} when it was last used.`;
  return `The key is ${what}${untilText(end, at)}${isTested ? `; ${nextTryText(next, facts)}` : ''}.`;
}

/** Whose key the explorer refuses. */
export function refusedKeyText({ credits: { keys } }: OverallFacts): string {
  const processes = keys
    .filter(isRefusedInUse)
    .flatMap(({ limits }) => limits.flatMap(({ stated_by }) => stated_by.map(printable)));
  return `The explorer does not accept the API key of ${processes.join(', ')}: correct it there, and restart.`;
}

/** What the files of processes at work say of one key, where they disagree. */
export function limitsText({ credits: { keys } }: OverallFacts): string {
  const stated = keys
    .filter(({ limits }) => limits.length > 1)
    .map(({ limits }) =>
      limits
        .map(
          ({ requests_per_second: rate, daily_credits: credits, stated_by }) =>
            `${rate} requests per second and ${credits === null ? 'no daily limit' : counted(credits, 'daily credit')} by ${stated_by.map(printable).join(', ')}`,
        )
        .join('; '),
    );
  return `Files of processes at work state different limits for one key (${stated.join('; ')}). The lowest hold: state the same in each.`;
}

/** Which feeds' history is read, and until when. */
export function readingText(reading: readonly FeedStatus[], at: Date): string {
  const ends = reading.map(({ left }) => left.ends_at);
  // Unknown if one feed's is.
  const until = ends.includes(null) ? null : latest(ends);
  const isBound = until !== null && reading.some(({ left }) => left.requests.likely === null);
  const when = isBound ? `${untilText(until, at)} at most` : untilText(until, at, 'about ');
  return `Reading history of ${counted(reading.length, 'feed')}${when}.`;
}

/** How long no new item has come. */
export const silentText = ({ unit, newest_item: item }: FeedStatus): string =>
  `No new ${unit === 'batches' ? 'batches' : 'items'} for ${duration(item?.age_s ?? null)}; usually one every ${duration(item?.usual_s ?? 0)}.`;

/** How long a lane with a worker has had no page. */
export const stalledText = ({ lanes }: FeedStatus): string =>
  `No page for ${duration(Math.max(...lanes.filter(isStalled).map(({ quiet_s }) => quiet_s ?? 0)))}.`;

/** How late a poll is. */
export function lateText({ poll: { age_s, target } }: FeedStatus): string {
  const limit = `target ${duration(target?.seconds ?? 0)}.`;
  return age_s === null ? `Never polled; ${limit}` : `Last polled ${duration(age_s)} ago; ${limit}`;
}

/** What `sync` needs where no file names feeds: flags for those of the first chain. */
export function flagsWithoutFile(all: readonly FeedStatus[]): string {
  const [first] = all;
  if (first === undefined || all.some(({ wanted_by }) => wanted_by.length > 0)) return '';
  const own = all.filter(({ chain_id }) => chain_id === first.chain_id);
  return ` --chain ${first.chain_id} --operation ${own.map(({ operation }) => operation).join(' ')}`;
}

/** Only --json shows a smaller archive, in bytes. */
const largeArchive = 1_000_000_000;

/** Notes that change no state, each with the feeds that it is about. */
export function notesOf(feeds: readonly FeedStatus[]): StatusDocument['notes'] {
  const countOf = (field: 'schema_drift' | 'archived_bytes') => {
    const own = feeds.filter((feed) => feed[field] > 0);
    return { feeds: own.map(({ feed }) => feed), total: sum(own.map((feed) => feed[field])) };
  };
  const { total: drift, ...drifted } = countOf('schema_drift');
  const { total: archive, ...archived } = countOf('archived_bytes');
  const differ = `${counted(drift, 'difference')} from the specification; unknown fields are in extra.`;
  const size = `${gigabytes(archive)} of archived pages`;
  return [
    ...(drift === 0 ? [] : [{ ...drifted, sentence: differ, command: 'explorer-etl verify' }]),
    ...(archive < largeArchive ? [] : [{ ...archived, sentence: size, command: null }]),
  ];
}
