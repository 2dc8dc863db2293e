import { CronExpressionParser } from 'cron-parser';

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
