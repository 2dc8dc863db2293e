import plur from 'plur';
import prettyBytes from 'pretty-bytes';
import prettyMilliseconds from 'pretty-ms';

const wholes = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });
const shortened = new Intl.NumberFormat('en-US', { notation: 'compact' });
const tenths = new Intl.NumberFormat('en-US', { maximumFractionDigits: 1 });

export const whole = (count: number): string => wholes.format(count);

/** Two or three digits, such as 12K. */
export const compact = (count: number): string => shortened.format(count);

/** A share of 1, such as 8.5 %. An incomplete one is never 100 %. */
export const percent = (share: number): string =>
  `${tenths.format(share < 1 ? Math.min(99.9, share * 100) : share * 100)} %`;

/** A time in its two largest units, such as 2h 5m: no seconds after an hour; `unknown` for null. */
export function duration(seconds: number | null): string {
  if (seconds === null) return 'unknown';
  const size = Math.abs(seconds);
  const unit = size >= 86_400 ? 3_600 : size >= 3_600 ? 60 : 1;
  const shown = size < 10 ? seconds : Math.trunc(seconds / unit) * unit;
  return prettyMilliseconds(shown * 1000, { unitCount: 2 });
}

/** A time in its largest unit, such as 2h. */
export const brief = (seconds: number): string =>
  prettyMilliseconds(Math.max(1, Math.floor(seconds)) * 1000, { unitCount: 1 });

/** Bytes in a suitable unit, such as 3.4 MB. */
export const bytes = (count: number): string => prettyBytes(count);

/** `1 page`, `12,345 pages`; `others` is an irregular plural. */
export const counted = (count: number, one: string, others?: string): string =>
  `${whole(count)} ${others === undefined ? plur(one, count) : plur(one, others, count)}`;
