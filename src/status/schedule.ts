import { CronExpressionParser } from 'cron-parser';
import type { LaneTimes } from '../sync/queue.ts';
import { feedName } from '../lists/feed.ts';
import type { FeedStatus } from './schema.ts';

/** When a schedule fires, as a cron of five fields. */
export interface Cron {
  readonly cron: string;
  readonly timezone: string;
}

type PollTarget = NonNullable<FeedStatus['poll']['target']>;

/** The schedule of the lane that polls the head: the live one, where there is one. */
export function headSchedule(schedules: readonly LaneTimes[], feed: string): Cron | null {
  const own = schedules.filter(({ lane }) => feedName(lane) === feed);
  return own.find(({ lane }) => lane.lane === 'live') ?? own[0] ?? null;
}

/** When a schedule fires next. */
export const nextFiring = ({ cron, timezone }: Cron, at: Date): Date =>
  CronExpressionParser.parse(cron, { tz: timezone, currentDate: at }).next().toDate();

/** Firings whose intervals are compared: those around a pause such as a night are among them. */
const firingsSeen = 3;

/** The longest interval between two firings around a time, in seconds. */
function firingInterval({ cron, timezone }: Cron, at: Date): number {
  const back = CronExpressionParser.parse(cron, { tz: timezone, currentDate: at });
  const times = [nextFiring({ cron, timezone }, at).getTime()];
  while (times.length <= firingsSeen) times.push(back.prev().getTime());
  const intervals = times.slice(1).map((time, index) => (times[index] ?? time) - time);
  return Math.max(...intervals) / 1000;
}

/** A year holds every pattern that a cron has. */
const days = 365;
const dayMs = 86_400_000;

/**
 * How many times a day a schedule fires, on average over the year from `at`: its times of day multiplied by the
 * days that it fires on, because a walk through a year of minutes takes a minute. Days of 23 and 25 hours count
 * as whole ones.
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

/** Firings that may be missed: a poll that takes long is no miss, and the next one is. */
const firingsMissed = 2;
/** A run opens and ends within so long, in seconds, however often the schedule fires. */
const leastSeconds = 120;
/** A copy that `sync` makes is a day old at most, and two hours for the reading; in seconds. */
const dailySeconds = 26 * 3600;

/**
 * How old a feed's last poll may be: as the file's `freshness` says, else by the schedule that a `start` set, else
 * by a `sync` a day. Pure.
 *
 * @param set the schedule that a `start` set; null: none did
 */
export function pollTarget(
  { freshness_s, schedule }: { readonly freshness_s: number | null; readonly schedule: Cron },
  set: Cron | null,
  at: Date,
): PollTarget {
  if (freshness_s !== null) return { seconds: freshness_s, from: 'configured' };
  const seconds = Math.max(leastSeconds, firingsMissed * firingInterval(set ?? schedule, at));
  if (set !== null) return { seconds, from: 'schedule' };
  return { seconds: Math.max(dailySeconds, seconds), from: 'daily' };
}
