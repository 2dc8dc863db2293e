import { CronExpressionParser } from 'cron-parser';
import type { ConfiguredLane } from './lanes.ts';

/** When the first of the schedules is due after a time; null where none ever is. */
export function nextPoll(
  lanes: readonly Pick<ConfiguredLane, 'cron' | 'timezone'>[],
  after: Date,
): Date | null {
  const due = lanes.flatMap(({ cron, timezone }) => {
    const schedule = CronExpressionParser.parse(cron, { currentDate: after, tz: timezone });
    // A day that no year has, such as 30 February.
    return schedule.hasNext() ? [schedule.next().getTime()] : [];
  });
  return due.length === 0 ? null : new Date(Math.min(...due));
}
