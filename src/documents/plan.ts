import { z } from 'zod';
import { documentOf } from './envelope.ts';
import { count, countOrNull, range, reason } from './estimate.ts';

const seconds = (what: string) =>
  z
    .strictObject({
      least: countOrNull('At the earliest. Null: not known, or not within 100 years.'),
      most: countOrNull(
        'At the latest, or when it is likely to be read. Null: not known, or not within 100 years.',
      ),
    })
    .describe(what);

const basis = z
  .array(
    z.strictObject({
      what: z
        .enum([
          'gap',
          'batch',
          'ranking',
          'poll',
          'deeper-poll',
          'new-item',
          'new-batch',
          'batch-again',
        ])
        .describe('What it is.'),
      count: count('How many of it.'),
      requests_each: countOrNull('Requests that each takes. Null: the others hold them.'),
    }),
  )
  .describe('What the most is made of.');

const cost = {
  requests: range('Requests, each of a page.'),
  credits: range('Credits of these requests.'),
};

const boundBy = z
  .discriminatedUnion('kind', [
    z.strictObject({
      kind: z.literal('credits').describe("A day's credits end first."),
      daily_credits: count('Credits of a day.'),
    }),
    z.strictObject({
      kind: z.literal('rate').describe('The key allows no more requests.'),
      requests_per_second: count('Requests a second.'),
    }),
    z.strictObject({
      kind: z.literal('latency').describe('Each walk waits for its answer: no plan is faster.'),
      requests_per_second: count('Requests a second that the answers allow.'),
      latency_ms: count('How long an answer takes.'),
      feed: z.string().describe('The feed that ends last.'),
    }),
  ])
  .nullable()
  .describe('What the end of the history depends on. Null: nothing is left.');

/** `plan --json`. */
export const planDocument = documentOf('plan', 1, {
  as_of: z.string().describe('When it was reckoned, ISO 8601.'),
  rate: z
    .strictObject({
      requests_per_second: count('Requests a second, as configured.'),
      daily_credits: countOrNull('Credits a day, as configured. Null: no limit of ours.'),
      credits_per_request: count('What a request costs.'),
    })
    .describe('What the key may do.'),
  spent_today: z
    .strictObject({
      requests: count('Requests of this day (UTC).'),
      credits: count('Their credits.'),
    })
    .describe('What all feeds of the database cost today so far.'),
  feeds: z
    .array(
      z.strictObject({
        feed: z.string().describe('The feed, such as 10/user-operations.'),
        chain_id: z.int().describe('Its chain.'),
        operation: z.string().describe('Its list.'),
        target: z
          .strictObject({
            since: z
              .string()
              .nullable()
              .describe('The oldest time, ISO 8601. Null: none is named.'),
            from_batch: countOrNull('The first batch. Null: none is named.'),
            to_batch: countOrNull('The last batch. Null: none is named.'),
          })
          .nullable()
          .describe('The bounds that a command named, where the file names none. Null: none did.'),
        done: z
          .strictObject({
            requests: count('Pages that were read so far.'),
            credits: count('Their credits.'),
          })
          .describe('What it cost so far.'),
        latency_ms: countOrNull('How long its newest answers took. Null: none yet.'),
        history: z
          .strictObject({ ...cost, seconds: seconds('Until it is read.'), reason, basis })
          .describe('What is left of its history, once.'),
        upkeep: z.strictObject({ ...cost, reason, basis }).describe('What a day of it costs.'),
      }),
    )
    .describe('The feeds of the configuration.'),
  history: z
    .strictObject({
      ...cost,
      seconds: seconds('Until all of it is read, as configured.'),
      seconds_beside_upkeep: countOrNull(
        'The same at the latest, with the upkeep of every feed going on meanwhile. Null: not known, or never.',
      ),
      free_plan_days: range("Days of the free plan's credits that it costs."),
      bound_by: boundBy,
      first_done: z
        .string()
        .nullable()
        .describe('The feed that is read first. Null: none is left.'),
      unknown: z
        .array(z.string())
        .describe(
          'Feeds of which nothing tells the most; they are in no sum. plan --probe finds out.',
        ),
    })
    .describe('What is left of all histories whose size is known.'),
  upkeep: z
    .strictObject({
      ...cost,
      free_plan_days: range("Days of the free plan's credits that a day costs."),
      fits: z
        .boolean()
        .nullable()
        .describe('Whether it fits into a day. Null: what is known of it does.'),
    })
    .describe('What a day of all feeds costs.'),
  plans: z
    .array(
      z.strictObject({
        plan: z.string().describe('A plan of the service.'),
        requests_per_second: count('Requests a second that it allows.'),
        daily_credits: countOrNull('Credits a day. Null: they are counted otherwise.'),
        seconds: seconds('Until all history is read under it.'),
        bound_by: boundBy,
        upkeep_fits: z.boolean().nullable().describe('As upkeep.fits, under it.'),
      }),
    )
    .describe('The same under the plans of the service.'),
  warnings: z
    .array(
      z.strictObject({
        kind: z
          .enum(['upkeep-does-not-fit', 'history-never-ends'])
          .describe(
            'upkeep-does-not-fit: a day costs more than a day allows. history-never-ends: beside its upkeep the history is not read within 100 years.',
          ),
      }),
    )
    .describe('What a person has to change.'),
});

export type PlanDocument = z.infer<typeof planDocument>;
