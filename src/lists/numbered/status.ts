import { sql, type SQL } from 'drizzle-orm';
import { z } from 'zod';
import {
  about,
  atLeast,
  type Estimate,
  type EstimateOptions,
  halfPage,
  type KindStatus,
  none,
  upTo,
} from '../list.ts';
import type { Configured } from '../operation.ts';
import { polling } from '../settings.ts';

/** As SQL: whether a newer walk read the same verified batch. Polls stay: the next counts them. */
const isPrunable = (): SQL => sql`
  exists (
    select from etl.feeds
    join etl.batch_states as batch
      on batch.chain_id = feeds.chain_id
      and batch.operation = feeds.operation
      and batch.batch_number <= latest_batch
    where feeds.feed = later.feed and batch.batch_number = later.batch and is_verified
  )
  and exists (
    select from etl.walks as newer
    where newer.feed = later.feed
      and newer.batch = later.batch
      and newer.id > later.id
      and newer.state = 'finished'
      and (newer.reason is null or newer.reason = 'known')
      and coalesce(newer.top, -1) >= coalesce(later.top, -1)
  )
  and not exists (
    select from etl.batch_observations
    where batch_observations.chain_id = later.chain_id
      and batch_observations.operation = later.operation
      and batch_number = later.batch
      and walk_id = later.id
  )
`;

const batchNumber = z.int().min(0);

/** Keys of numbered lists; parsing `{}` gives the defaults. */
const numberedSettings = ({ guide, defaults }: Configured) =>
  z
    .strictObject({
      ...polling(
        defaults,
        'Each time costs one page (20 credits) to look above the newest batch, three where one is new, 3 to 29 pages for each batch that is new, and one or more for each that is read again.',
      ),
      from_batch: batchNumber
        .default(1)
        .describe('First batch to read. Each batch costs 3 to 29 pages of 20 credits.'),
      to_batch: batchNumber
        .nullish()
        .describe(
          'Last batch to read. Without it the newest is searched, once, for under 100 pages of 20 credits, and followed.',
        ),
      reread: z
        .int()
        .min(0)
        .max(100)
        .default(2)
        .describe(
          'How many of the newest numbers are read again each time until they are verified, because a batch can be seen half imported. Each costs one page of 20 credits where nothing is new. Without effect beside to_batch.',
        ),
      parallel: z
        .int()
        .min(1)
        .max(64)
        .default(4)
        .describe('How many batches are read at once. Costs nothing: the rate limit is shared.'),
    })
    .refine(({ from_batch: from, to_batch: to }) => !(typeof to === 'number' && to < from), {
      path: ['to_batch'],
      message: 'is below from_batch: the range is reversed',
      // Also where another key is wrong, so that all problems are shown at once.
      when: ({ value }) => typeof value === 'object' && value !== null,
    })
    .transform(({ from_batch: fromBatch, to_batch, ...rest }) => ({
      ...rest,
      fromBatch,
      /** Last batch to read; null: the newest there is. */
      toBatch: to_batch ?? null,
    }))
    .describe(guide.about);

export type NumberedSettings = z.output<ReturnType<typeof numberedSettings>>;

/** What `etl.batch_facts` says of the numbers that the settings want, up to the latest known batch. */
export interface BatchFacts {
  readonly latestBatch: number | null;
  /** Numbers that were read to their end, and their blocks. */
  readonly read: number;
  readonly blocks: number;
  /** Of the newest batches: how many come in a day, and how many blocks each has. */
  readonly perDay: number | null;
  readonly blocksEach: number | null;
  /** Blocks on the fullest page: what a page holds, whatever was requested. */
  readonly pageItems: number | null;
}

/** Pages of a batch, as chains have them (docs/api-costs.md). */
const usualPages = { least: 3, most: 29 };

/** What is left of the batches of a range. */
function history(
  known: BatchFacts | null,
  { fromBatch, toBatch }: NumberedSettings,
  { pageSize }: EstimateOptions,
): Estimate {
  const high = toBatch ?? known?.latestBatch ?? null;
  if (high === null) return atLeast(1);
  const unread = Math.max(0, high - fromBatch + 1 - (known?.read ?? 0));
  if (unread === 0) return none;
  return known === null || known.read === 0
    ? upTo(unread * usualPages.least, unread * usualPages.most)
    : about(unread * pagesOf(known.blocks / known.read, known, pageSize));
}

/** Numbers that a poll tries where the one above the newest batch was new. */
const pollsAtNews = 3;

/** What it takes a day to follow the newest batches. */
function upkeep(
  known: BatchFacts | null,
  { toBatch, reread }: NumberedSettings,
  { pageSize, pollsPerDay }: EstimateOptions,
): Estimate {
  if (toBatch !== null) return none;
  const { perDay = null, blocksEach = null } = known ?? {};
  if (known === null || perDay === null || blocksEach === null) return atLeast(pollsPerDay);
  const polls = pollsPerDay + Math.min(pollsPerDay, perDay) * (pollsAtNews - 1);
  const least = polls + perDay * pagesOf(blocksEach, known, pageSize);
  // Batches are read again only until they are verified.
  return upTo(least, least + pollsPerDay * reread);
}

const pagesOf = (blocks: number, { pageItems }: BatchFacts, pageSize: number) =>
  Math.max(1, blocks / (pageItems ?? pageSize) + halfPage);

export const numberedStatus: KindStatus<NumberedSettings, BatchFacts> = {
  name: 'numbered',
  hasHistory: true,
  readsAgain: sql`later.reason is null and later.batch = (item.scope ->> 'batch')::bigint`,
  isPrunable,
  covers: () => 'batches',
  facts: sql`etl.batch_facts(
    feeds.feed,
    (feeds.settings ->> 'fromBatch')::bigint,
    (feeds.settings ->> 'toBatch')::bigint
  )`,
  settings: numberedSettings,
  bounds: ['fromBatch', 'toBatch'],
  isBounded: ({ fromBatch, toBatch }) => fromBatch !== 1 || toBatch !== null,
  estimate: (known, settings, how) => ({
    history: history(known, settings, how),
    upkeep: upkeep(known, settings, how),
  }),
  examples: { sync: '--from-batch 1 --to-batch 20', backfill: '--from-batch 1' },
};
