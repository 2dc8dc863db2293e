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
