const wholes = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });
const shortened = new Intl.NumberFormat('en-US', { notation: 'compact' });
const tenths = new Intl.NumberFormat('en-US', { maximumFractionDigits: 1 });

export const whole = (count: number): string => wholes.format(count);

/** Two or three digits, such as 12K. */
export const compact = (count: number): string => shortened.format(count);

/** A share of 1, such as 8.5 %. An incomplete one is never 100 %. */
export const percent = (share: number): string =>
  `${tenths.format(share < 1 ? Math.min(99.9, share * 100) : share * 100)} %`;

/** In s, largest first. */
const timeUnits = { y: 365 * 86_400, d: 86_400, h: 3_600, m: 60, s: 1 };

/** Whole seconds in their `most` largest units that are not zero. */
function inUnits(seconds: number, most: number): string {
  let remainder = seconds;
  const parts = Object.entries(timeUnits).map(([unit, size]) => {
    const count = Math.floor(remainder / size);
    remainder -= count * size;
    return count === 0 ? '' : `${count}${unit}`;
  });
  return parts.filter(Boolean).slice(0, most).join(' ');
}

/** A time in its two largest units, such as 2h 5m: no seconds after an hour; `unknown` for null. */
export function duration(seconds: number | null): string {
  if (seconds === null) return 'unknown';
  const size = Math.abs(seconds);
  const sign = seconds < 0 ? '-' : '';
  if (size < 1) return `${sign}${Math.round(size * 1000)}ms`;
  if (size < 10) return `${sign}${Math.floor(size * 10) / 10}s`;
  const unit = size >= 86_400 ? 3_600 : size >= 3_600 ? 60 : 1;
  return sign + inUnits(Math.floor(size / unit) * unit, 2);
}

/** A time in its largest unit, such as 2h. */
export const brief = (seconds: number): string => inUnits(Math.max(1, Math.floor(seconds)), 1);

/** Bytes in the unit of large stores, such as 3.4 GB. */
export const gigabytes = (bytes: number): string => `${tenths.format(bytes / 1e9)} GB`;

/** `1 page`, `12,345 pages`; `others` is an irregular plural. */
export const counted = (count: number, one: string, others = `${one}s`): string =>
  `${whole(count)} ${count === 1 ? one : others}`;
