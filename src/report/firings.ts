import { CronExpressionParser } from 'cron-parser';

/** When a schedule fires, as a cron of five fields. */
export interface Cron {
  readonly cron: string;
  readonly timezone: string;
}

/** When a schedule fires next. */
export const nextFiring = ({ cron, timezone }: Cron, at: Date): Date =>
  CronExpressionParser.parse(cron, { tz: timezone, currentDate: at }).next().toDate();

/** Firings that are looked at for how far they lie apart: those around a pause such as a night are among them. */
const firingsSeen = 3;

/** How far the firings of a schedule lie apart around a moment, at most, in seconds. */
export function firingInterval({ cron, timezone }: Cron, at: Date): number {
  const back = CronExpressionParser.parse(cron, { tz: timezone, currentDate: at });
  const times = [nextFiring({ cron, timezone }, at).getTime()];
  while (times.length <= firingsSeen) times.push(back.prev().getTime());
  const apart = times.slice(1).map((time, index) => (times[index] ?? time) - time);
  return Math.max(...apart) / 1000;
}

/** A year holds every pattern that a cron has. */
const days = 365;
const dayMs = 86_400_000;

/**
 * How many times a day a schedule fires, on average over the year from `at`. Its times of day are
 * multiplied with the days that it fires on: to walk through a year of minutes takes a minute. Days
 * of 23 and 25 hours are taken for whole ones.
 */
export function firingsPerDay(cron: string, at: Date): number {
  const schedule = CronExpressionParser.parse(cron, { tz: 'UTC' });
  const { minute, hour } = schedule.fields;
  const [, , ...dayFields] = schedule.stringify().split(' ');
  const daily = CronExpressionParser.parse(`0 0 ${dayFields.join(' ')}`, {
    tz: 'UTC',
    currentDate: new Date(at.getTime() - 1),
  });
  const end = at.getTime() + days * dayMs;
  let firingDays = 0;
  while (firingDays < days && daily.next().getTime() < end) firingDays += 1;
  return (minute.values.length * hour.values.length * firingDays) / days;
}
