import ms, { type StringValue } from 'ms';

const duration = /^\d+(?:\.\d+)? ?(?:ms|s|m|h|d|seconds?|minutes?|hours?|days?)$/u;

/** A duration with its unit, such as `30s`, `5m` or `1 day`, in ms; null when it is none. */
export function parseDuration(text: string): number | null {
  return duration.test(text) ? ms(text as StringValue) : null;
}

const moment =
  /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?<zone>Z|[+-]\d{2}:\d{2})?)?$/u;

/**
 * A date (its first moment) or a timestamp as an ISO 8601 string in UTC; null when it is none.
 * Without an offset it is UTC, as all times of the explorer are.
 */
export function parseTime(text: string): string | null {
  const match = moment.exec(text);
  if (match === null) return null;
  const isDate = text.length === 'yyyy-mm-dd'.length;
  const time = new Date(isDate || match.groups?.zone !== undefined ? text : `${text}Z`);
  // Date rolls 30 February over into March; that is a typing error, not a date.
  const day = new Date(`${text.slice(0, 10)}T00:00:00Z`);
  const isReal = !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text.slice(0, 10));
  return isReal && !Number.isNaN(time.getTime()) ? time.toISOString() : null;
}
