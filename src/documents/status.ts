import { z } from 'zod';
import { documentOf } from './envelope.ts';
import { feedReport } from './feed-report.ts';
import {
  count,
  countOrNull,
  failure,
  instant,
  instantOrNull,
  said,
  secondsOrNull,
} from './pieces.ts';
import { verdict } from './verdict.ts';

const forecastKind = <Name extends string>(name: Name) => z.literal(name).describe('Which it is.');

const forecast = z
  .discriminatedUnion('kind', [
    z.strictObject({ kind: forecastKind('no-limit') }),
    z.strictObject({ kind: forecastKind('enough') }),
    z
      .strictObject({
        kind: forecastKind('history-takes-days'),
        days: z
          .strictObject({
            least: count('At least. 0: it may end today.'),
            most: count('At most.'),
          })
          .describe('How many more days of credits history needs beside polls, after today.'),
      })
      .describe('Polls have enough for today; history goes on the next day.'),
    z
      .strictObject({ kind: forecastKind('lasts-until'), at: instant })
      .describe('Polls alone need more than is left today.'),
    z.strictObject({ kind: forecastKind('spent'), until: instant }),
    z.strictObject({ kind: forecastKind('unknown') }),
  ])
  .describe('Whether they last until midnight UTC, by what is left to request.');

const money = {
  spent: count('Credits spent today (UTC).'),
  limit: countOrNull('What may be spent in a day. Null: no limit of ours.'),
  left: countOrNull(
    'What may still be spent today, by that limit and by what the explorer said. Null: not known.',
  ),
};

const credits = z.strictObject({
  ...money,
  forecast,
  keys: z
    .array(
      z.strictObject({
        ...money,
        paused_until: instantOrNull('Until when none of its requests may leave.'),
        failure,
        reason: said,
      }),
    )
    .describe('One for each key, which is not told.'),
});

/** `status --json`. */
export const statusDocument = documentOf('status', 1, {
  as_of: instant.describe('When this was read. ISO 8601.'),
  verdict,
  standby: z
    .strictObject({ behind_s: secondsOrNull('How far behind. Null: nothing tells.') })
    .nullable()
    .describe('What a standby tells of itself. Null: this is the primary.'),
  workers: z
    .strictObject({
      start: count('Processes that work by schedules.'),
      once: count('sync, backfill or repair.'),
    })
    .nullable()
    .describe('Processes that work now. Null: a standby does not see them.'),
  credits: credits.describe("Today's credits, of all keys together."),
  next_poll_at: instantOrNull('The first of all feeds. Null: nobody works by schedules.'),
  feeds: z.array(feedReport).describe('Every feed that was ever registered.'),
});

export type StatusDocument = z.infer<typeof statusDocument>;
