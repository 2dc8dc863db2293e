/** Numbers and times as people read them: English, UTC, thousands separated. */

const whole = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });
const rounded = new Intl.NumberFormat('en-US', { maximumFractionDigits: 1 });
const short = new Intl.NumberFormat('en-US', { notation: 'compact', maximumFractionDigits: 1 });

export const count = (value: number): string => whole.format(value);
export const decimal = (value: number): string => rounded.format(value);
export const compact = (value: number): string => short.format(value);

/** `1 gap`, `2,000 gaps`. */
export const counted = (value: number, noun: string): string =>
  `${count(value)} ${noun}${value === 1 ? '' : 's'}`;

/** Rounded down: 100 % is said of the whole only. */
export const percent = (share: number): string => `${Math.floor(share * 1_000) / 10} %`;

const units = [
  [86_400, 'd'],
  [3_600, 'h'],
  [60, 'min'],
] as const;

/** A duration in its largest unit: `42 s`, `3 min`, `5 h`, `12 d`. */
export function duration(seconds: number): string {
  const [size, unit] = units.find(([each]) => seconds >= each) ?? [1, 's'];
  const value = seconds / size;
  return `${value < 10 && size > 60 ? Math.floor(value * 10) / 10 : Math.floor(value)} ${unit}`;
}

const formatter = (options: Intl.DateTimeFormatOptions) => {
  const format = new Intl.DateTimeFormat('en-GB', { timeZone: 'UTC', ...options });
  return (time: string | number): string => format.format(new Date(time));
};

const dayParts = { day: 'numeric', month: 'short' } as const;
const clockParts = { hour: '2-digit', minute: '2-digit' } as const;
export const clock = formatter(clockParts);
export const clockWithSeconds = formatter({ ...clockParts, second: '2-digit' });
export const day = formatter(dayParts);
export const date = formatter({ ...dayParts, year: 'numeric' });
export const month = formatter({ month: 'short', year: 'numeric' });
export const year = formatter({ year: 'numeric' });
export const dateTime = (time: string | number): string => `${date(time)}, ${clock(time)}`;

/** A moment beside the time it is read: the clock alone if it is of the same day. */
export const moment = (time: string, now: string): string =>
  time.slice(0, 10) === now.slice(0, 10) ? `${clock(time)} UTC` : `${dateTime(time)} UTC`;

/** How long before `now` something was; `now` is the document's time, not the browser's. */
export const secondsSince = (time: string, now: string): number =>
  Math.max(0, (Date.parse(now) - Date.parse(time)) / 1_000);

export const ago = (time: string, now: string): string =>
  `${duration(secondsSince(time, now))} ago`;

const isNumber = /^-?\d+(?:\.\d+)?$/u;

/** A value of a table: digits in groups of three, however many there are; times without their zone. */
export function cell(value: string | number | boolean | null): string {
  if (value === null) return '';
  const text = String(value);
  if (isNumber.test(text)) {
    const [integer = '', fraction] = text.split('.');
    const grouped = integer.replaceAll(/\B(?=(?:\d{3})+$)/gu, ',');
    return fraction === undefined ? grouped : `${grouped}.${fraction}`;
  }
  return text.replace(/^(\d{4}-\d\d-\d\d)T([\d:.]+)(?:Z|\+00:00)$/u, '$1 $2');
}
