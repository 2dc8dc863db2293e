import { z } from 'zod';
import { documentOf } from './envelope.ts';
import { count, countOrNull, range } from './estimate.ts';
import { feedName, instant } from './pieces.ts';

const cost = {
  requests: range('Requests, each of a page.'),
  credits: range('Credits of these requests.'),
};

const seconds = (what: string) =>
  z
    .strictObject({
      likely: countOrNull('For the requests that are likely. Null: not known, or never.'),
      most: countOrNull('For the most requests. Null: not known, or never.'),
    })
    .describe(what);

const target = z
  .strictObject({
    since: z.string().nullable().describe('The oldest time, ISO 8601. Null: none is named.'),
    from_batch: countOrNull('The first batch. Null: it is no list of batches.'),
    to_batch: countOrNull('The last batch. Null: none is named.'),
    named_by: z
      .enum(['file', 'command'])
      .nullable()
      .describe('Where the bounds come from. Null: no bound is set, so it is the whole list.'),
  })
  .describe('Which part of the list is wanted.');

/** `plan --json`. */
export const planDocument = documentOf('plan', 1, {
  as_of: instant,
  rate: z
    .strictObject({
      requests_per_second: count('Requests a second, as configured.'),
      daily_credits: countOrNull('Credits a day, as configured. Null: no limit of ours.'),
      credits_per_request: count('What a request costs.'),
    })
    .describe('What the key may do.'),
  spent_today: count('Credits of this day (UTC) so far.'),
  feeds: z
    .array(
      z.strictObject({
        feed: feedName,
        chain_id: z.int().describe('Its chain.'),
        operation: z.string().describe('Its list.'),
        target,
        history: z
          .strictObject({ ...cost, seconds: seconds('To read it, if nothing else is read.') })
          .describe('What is left of its history, once.'),
        upkeep: z.strictObject(cost).describe('What a day of its polls costs.'),
      }),
    )
    .describe('The feeds of the configuration.'),
  history: z
    .strictObject({
      ...cost,
      seconds: seconds('To read all of it at the configured rate and daily credits.'),
      seconds_beside_upkeep: seconds('The same, while every feed is also polled.'),
      unknown: z
        .array(z.string())
        .describe(
          'Feeds whose most is not known; they are in no sum. plan --probe reads some pages of them.',
        ),
    })
    .describe('What is left of all histories whose size is known.'),
  upkeep: z
    .strictObject({
      ...cost,
      fits: z
        .boolean()
        .nullable()
        .describe(
          "Whether it fits into the rate and a day's credits. Null: what is known of it does.",
        ),
    })
    .describe('What a day of polls of all feeds costs.'),
});

export type PlanDocument = z.infer<typeof planDocument>;
