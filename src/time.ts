import { setTimeout as delay } from 'node:timers/promises';
import ms, { type StringValue } from 'ms';

const duration =
  /^\d{1,9}(?:\.\d{1,9})? ?(?<unit>ms|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?|w|weeks?)$/u;
const dayMs = 86_400_000;

/** A duration such as `30s`, `5m`, `1 day` or `2 weeks` in ms; null if it is none. */
export function parseDuration(text: string): number | null {
  return duration.test(text) ? ms(text as StringValue) : null;
}
const moment =
  /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?<zone>Z|[+-]\d{2}:\d{2})?)?$/u;

/** A date (its start) or timestamp, by default in UTC, as ISO 8601 in UTC; null if it is none. */
export function parseTime(text: string): string | null {
  const match = moment.exec(text);
  if (match === null) return null;
  const isDate = text.length === 'yyyy-mm-dd'.length;
  const time = new Date(isDate || match.groups?.zone !== undefined ? text : `${text}Z`);
  // Date rolls 30 February over into March; that is a typing error.
  const day = new Date(`${text.slice(0, 10)}T00:00:00Z`);
  const isReal = !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text.slice(0, 10));
  return isReal && !Number.isNaN(time.getTime()) ? time.toISOString() : null;
}

/**
 * A date, a timestamp, or a time before `now` such as `7d`, as ISO 8601 in UTC; null if it is none. A relative time is
 * rounded down to its day, hour, minute or second (UTC), so that the same words find an interrupted run again.
 */
export function parseMoment(text: string, now: Date): string | null {
  const agoMs = parseDuration(text);
  if (agoMs === null) return parseTime(text);
  const unit = duration.exec(text)?.groups?.unit;
  const wholeMs = Math.min(dayMs, ms(`1${unit}` as StringValue));
  const beginMs = Math.floor((now.getTime() - agoMs) / wholeMs) * wholeMs;
  // No list is older.
  return new Date(Math.max(0, beginMs)).toISOString();
}

/** What `parseMoment` takes, for messages. */
export const momentForms = 'a date or time such as 2026-11-01, or how long ago, such as 7d';

/** A time of day, with the date unless it is today. */
export function clock(time: string, at: Date): string {
  const [day = '', hour = ''] = new Date(time).toISOString().split('T');
  const minutes = `${hour.slice(0, 5)} UTC`;
  return at.toISOString().startsWith(day) ? minutes : `${day} ${minutes}`;
}

/**
 * Works now and after each pause of so many ms, until the signal aborts. A failure is reported, and the loop goes on:
 * a lost database is waited for. `setInterval` would make up for long rounds and reject at the abort.
 */
export async function every(
  pauseMs: number,
  signal: AbortSignal,
  work: () => Promise<void>,
  report: (error: unknown) => void = () => undefined,
): Promise<void> {
  while (!signal.aborted) {
    await work().catch(report);
    await delay(pauseMs, undefined, { signal }).catch(() => undefined);
  }
}
