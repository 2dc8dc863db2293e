const written =
  /^(?<year>\d{4,6})-(?<date>\d\d-\d\d)[ T](?<time>\d\d:\d\d:\d\d)(?:\.(?<fraction>\d{1,6}))?(?:\+00|Z)?$/u;
const dayMs = 86_400_000;

/**
 * Microseconds since 1970 of a time as Postgres writes it in UTC, or in ISO 8601.
 *
 * @returns null of what no clock shows: an infinity, a year before the first
 */
export function microseconds(text: string): bigint | null {
  const groups = written.exec(text)?.groups;
  if (groups === undefined) return null;
  const { year = '', date = '', time = '', fraction = '' } = groups;
  const ms = Date.parse(`${isoYear(year)}-${date}T${time}Z`);
  return Number.isNaN(ms) ? null : BigInt(ms) * 1000n + BigInt(fraction.padEnd(6, '0'));
}

/** Days since 1970 of a date as Postgres writes it; null of what no calendar shows. */
export function dayNumber(text: string): number | null {
  const micros = microseconds(`${text} 00:00:00`);
  return micros === null ? null : Number(micros / 1000n) / dayMs;
}

/** Years of more than four digits have a sign and six. */
const isoYear = (year: string): string => (year.length === 4 ? year : `+${year.padStart(6, '0')}`);
