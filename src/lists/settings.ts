import { CronExpressionParser } from 'cron-parser';
import { z } from 'zod';
import { parseDuration, parseTime } from '../time.ts';
import type { ConfigDefaults } from './operation.ts';

/** Five fields or a nickname: the queue reads schedules once a minute, so no seconds. */
const cronShape = /^(?:\S+\s+){4}\S+$|^@(?:yearly|annually|monthly|weekly|daily|hourly)$/u;

function isSchedule(text: string): boolean {
  if (!cronShape.test(text.trim())) return false;
  try {
    CronExpressionParser.parse(text, { tz: 'UTC' });
    return true;
  } catch {
    return false;
  }
}

function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }) instanceof Intl.DateTimeFormat;
  } catch {
    return false;
  }
}

/** A duration with its unit; in ms once it is read. */
export const duration = z
  .string()
  .refine(
    (text) => parseDuration(text) !== null,
    'not a duration: a number and a unit, such as 30s',
  )
  .transform((text) => parseDuration(text) ?? 0);

/** What every kind of list has: when to poll, with the cost of each poll. */
export const polling = ({ schedule }: Pick<ConfigDefaults, 'schedule'>, cost: string) => ({
  schedule: z
    .string()
    .refine(isSchedule, 'not a cron schedule: five fields, such as "*/5 * * * *"')
    .default(schedule)
    .describe(`When to look for news, as five cron fields. ${cost}`),
  timezone: z
    .string()
    .refine(isTimeZone, 'not a time zone: a name such as Europe/Berlin')
    .default('UTC')
    .describe('IANA time zone that the schedule is read in.'),
  freshness: duration
    .nullish()
    .transform((ms) => ms ?? null)
    .describe(
      'How old the last look at the head of the list may be, such as 15m: explorer.freshness shows whether it is. Costs nothing. Without it nothing is judged.',
    ),
});

/** What every feed is configured with, beside the settings of its kind; durations in ms. */
export type FeedSettings = Readonly<z.output<z.ZodObject<ReturnType<typeof polling>>>>;

/** A date or timestamp; ISO 8601 in UTC once it is read, null if absent. */
export const time = z
  .string()
  .refine((text) => parseTime(text) !== null, 'not a date or timestamp, such as 2024-01-01')
  .transform((text) => parseTime(text))
  .nullish()
  .transform((text) => text ?? null);
