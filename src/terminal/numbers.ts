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

/** A time in its two largest units, such as 2h 5m; `unknown` for null. */
export const duration = (seconds: number | null): string =>
  seconds === null
    ? 'unknown'
    : prettyMilliseconds(seconds * 1000, {
        unitCount: 2,
        secondsDecimalDigits: Math.abs(seconds) < 10 ? 1 : 0,
      });

/** A time in its largest unit, such as 2h. */
export const brief = (seconds: number): string =>
  prettyMilliseconds(Math.max(1, Math.floor(seconds)) * 1000, { unitCount: 1 });

/** Bytes in a suitable unit, such as 3.4 MB. */
export const bytes = (count: number): string => prettyBytes(count);

/** `1 page`, `12,345 pages`; `others` is an irregular plural. */
export const counted = (count: number, one: string, others?: string): string =>
  `${whole(count)} ${others === undefined ? plur(one, count) : plur(one, others, count)}`;
