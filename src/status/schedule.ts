import { CronExpressionParser } from 'cron-parser';
import { dayMs } from '../lists/list.ts';
import { type Cron, nextFiring } from '../sync/feeds.ts';
import type { FeedRecord } from './facts.ts';
import type { FeedStatus } from './schema.ts';

type PollTarget = NonNullable<FeedStatus['poll']['target']>;

/** Firings to compare: they include one around a pause such as a night. */
const firingsSeen = 3;

/** The longest interval between firings around a time, in seconds. */
function firingInterval({ cron, timezone }: Cron, at: Date): number {
  const back = CronExpressionParser.parse(cron, { tz: timezone, currentDate: at });
  const times = [nextFiring({ cron, timezone }, at).getTime()];
  while (times.length <= firingsSeen) times.push(back.prev().getTime());
  const intervals = times.slice(1).map((time, index) => (times[index] ?? time) - time);
  return Math.max(...intervals) / 1000;
}

/** A year contains every pattern of a cron. */
const days = 365;

/** Average firings per day over a year. Multiplies times by days: a loop over minutes is slow. */
export function firingsPerDay(cron: string, at: Date): number {
  const schedule = CronExpressionParser.parse(cron, { tz: 'UTC' });
  const { minute, hour } = schedule.fields;
  const dayFields = schedule.stringify().split(' ').slice(2).join(' ');
  // Most do, and a year of days takes 0.05 s.
  if (dayFields === '* * *') return minute.values.length * hour.values.length;
  const daily = CronExpressionParser.parse(`0 0 ${dayFields}`, {
    tz: 'UTC',
    currentDate: new Date(at.getTime() - 1),
  });
  const end = at.getTime() + days * dayMs;
  let firingDays = 0;
  while (firingDays < days && daily.next().getTime() < end) firingDays += 1;
  return (minute.values.length * hour.values.length * firingDays) / days;
}

/** The target in intervals between firings: a slow poll still meets it. */
const firingsMissed = 2;
/** A run opens and ends within this time, in seconds, under any schedule. */
const leastSeconds = 120;
/** A daily `sync`, and two hours for the reading; in seconds. */
const dailySeconds = 26 * 3600;

/**
 * The maximum age of a feed's last poll: the file's `freshness`, else by the schedule if a `start` follows it, else by
 * a daily `sync`. Pure.
 */
export function pollTarget(
  {
    freshness_s,
    next_due_at,
    settings: { schedule: cron, timezone },
  }: Pick<FeedRecord, 'freshness_s' | 'next_due_at' | 'settings'>,
  at: Date,
): PollTarget {
  if (freshness_s !== null) return { seconds: freshness_s, from: 'configured' };
  const seconds = Math.max(leastSeconds, firingsMissed * firingInterval({ cron, timezone }, at));
  if (next_due_at !== null) return { seconds, from: 'schedule' };
  return { seconds: Math.max(dailySeconds, seconds), from: 'daily' };
}
