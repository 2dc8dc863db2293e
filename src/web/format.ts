/** Formats for people: English, UTC, grouped thousands. */

// Chromium under the POSIX locale reports a language that Intl refuses, and uPlot throws as it loads.
try {
  Intl.getCanonicalLocales(navigator.language);
} catch {
  Object.defineProperty(navigator, 'language', { value: 'en-US' });
}

export { counted, percent, whole as count } from '../terminal/numbers.ts';

const numberFormat = (options: Intl.NumberFormatOptions) => {
  const format = new Intl.NumberFormat('en-US', { maximumFractionDigits: 1, ...options });
  return (value: number): string => format.format(value);
};

export const decimal = numberFormat({});
export const sixDigits = numberFormat({ maximumSignificantDigits: 6 });
export const compact = numberFormat({ notation: 'compact' });

/** A duration in its largest unit: `42 s`, `3 min`, `5 h`, `12 d`. */
export function duration(seconds: number): string {
  const units = [[86_400, 'd'] as const, [3_600, 'h'] as const, [60, 'min'] as const];
  const [size, unit] = units.find(([each]) => seconds >= each) ?? [1, 's'];
  const value = seconds / size;
  return `${value < 10 && size > 60 ? Math.floor(value * 10) / 10 : Math.floor(value)} ${unit}`;
}

const timeFormat = (options: Intl.DateTimeFormatOptions) => {
  const format = new Intl.DateTimeFormat('en-GB', { timeZone: 'UTC', ...options });
  return (time: string | number): string => format.format(new Date(time));
};

export const clock = timeFormat({ timeStyle: 'short' });
export const day = timeFormat({ day: 'numeric', month: 'short' });
export const date = timeFormat({ dateStyle: 'medium' });
export const second = timeFormat({ dateStyle: 'medium', timeStyle: 'medium' });
export const month = timeFormat({ month: 'short', year: 'numeric' });
export const year = timeFormat({ year: 'numeric' });
export const dateTime = (time: string | number): string => `${date(time)}, ${clock(time)}`;

/** A time relative to the document's: without the day if it is the same. */
export const moment = (time: string, now: string): string =>
  `${time.slice(0, 10) === now.slice(0, 10) ? clock(time) : dateTime(time)} UTC`;

/** The time from `time` to `now`, which is the document's, not the browser's. */
export const age = (time: string, now: string): string =>
  duration(Math.max(0, (Date.parse(now) - Date.parse(time)) / 1_000));

export const ago = (time: string | null | undefined, now: string): string =>
  time ? `${age(time, now)} ago` : '–';

const exact = new Intl.NumberFormat('en-US', { maximumFractionDigits: 100 });

/** A table's value: grouped digits, all of them; times without zone. */
export function cell(value: string | number | boolean | null): string {
  const text = String(value ?? '');
  if (/^-?\d+(?:\.\d+)?$/u.test(text)) return exact.format(text as `${number}`);
  return text.replace(/^(\d{4}-\d\d-\d\d)T([\d:.]+)(?:Z|\+00:00)$/u, '$1 $2');
}
