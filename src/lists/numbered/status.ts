import { sql, type SQL } from 'drizzle-orm';
import { z } from 'zod';
import type { KindStatus, ListCoverage, ListReach } from '../list.ts';
import type { Configured } from '../operation.ts';
import { polling } from '../settings.ts';
import { type BatchFacts, batchHistory, batchUpkeep, facts, nothingKnown } from './estimate.ts';

/** Verified by the chain, or, up to a last number, by being read: a few batches lack neighbours. */
const shows = sql`exists (
  select from etl.batch_states as batch
  where batch.chain_id = feeds.chain_id and batch.operation = feeds.operation and is_verified and batch_number <@ target_numbers
) or (
  not upper_inf(target_numbers) and target_numbers <> '{}'
  and (select sum(upper(range) - lower(range)) from unnest(target_numbers) as range) = (
    select count(*) from etl.batch_states as batch
    where batch.chain_id = feeds.chain_id and batch.operation = feeds.operation and batch_number <@ target_numbers
  )
)`;

/** Ranges of numbers that the chain verifies and that hold no item in quarantine, as of the oldest and the newest conclusion in each. */
const verifiedBatches = sql`
  select json_agg(
    json_build_object(
      'from', lower(range), 'to', upper(range) - 1, 'as_of', walked.oldest, 'newest_as_of', walked.newest
    )
    order by range
  )
  from (
    select unnest(
      range_agg(int8range(batch_number, batch_number + 1))
        - coalesce((select places from etl.quarantined where quarantined.feed = feeds.feed), '{}')
    ) as range
    from etl.batch_states as batch
    where batch.chain_id = feeds.chain_id and batch.operation = feeds.operation and is_verified
  ) as verified,
  lateral (
    select min(walked_at) as oldest, max(walked_at) as newest
    from etl.batch_states as batch
    where batch.chain_id = feeds.chain_id
      and batch.operation = feeds.operation
      and batch_number >= lower(range)
      and batch_number < upper(range)
  ) as walked
`;

/** What is above the highest verified batch waits for what is to come; the lowest may have no neighbour below. */
const batchNotes = sql`
  select jsonb_agg(note order by note -> 'from' desc)
  from (
    select jsonb_build_object(
      'detail', 'waits-for-' || waits_for, 'from', lower(range), 'to', upper(range) - 1
    ) as note
    from (
      select waits_for, unnest(range_agg(int8range(batch_number, batch_number + 1))) as range
      from etl.batch_heads
      where batch_heads.feed = feeds.feed
      group by waits_for
    ) as head
    union all
    select note from etl.batch_notes where batch_notes.feed = feeds.feed
  ) as notes
`;

const coverage: ListCoverage = {
  shows,
  lacks: 'no-verified-batch',
  by: 'ranges',
  covered: verifiedBatches,
  notes: batchNotes,
  findings: sql`select feed, finding from etl.batch_findings`,
  readsAgain: sql`later.reason is null and later.batch = (item.scope ->> 'batch')::bigint`,
};

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

/** Newest batches that show how often one comes: a day of them. */
const recentBatches = 200;

/** The age of the newest batch's last block, and how many numbers are verified. */
const reach: ListReach = {
  progress: sql`null::json`,
  verified: sql`
    select verified as positions, least(1, unread) as gaps, unread as missing,
           to_jsonb(counts) - 'feed' || jsonb_build_object('is_bounded', not upper_inf(feeds.target_numbers))
             as batches
    from etl.batch_counts as counts
    where counts.feed = feeds.feed
  `,
  newestTimes: sql`
    select (
      select timestamp from etl.batch_blocks as block
      where block.chain_id = feeds.chain_id
        and block.operation = feeds.operation
        and height = last_height
    ) as timestamp
    from etl.batch_states as batch
    where batch.chain_id = feeds.chain_id and batch.operation = feeds.operation and blocks_count > 0
    order by batch_number desc
    limit ${recentBatches}
  `,
};

/** More batches with blocks than these never wait for what is to come alone (`etl.batch_state_findings`). */
const mostInHead = 3;

const parts = sql`
    with target as materialized (
      select * from etl.target_batches
    ), listed as materialized (
      select * from etl.listed_without_blocks
    ), wanted as (
      select feed, range_agg(numbers) as numbers
      from (
        select feed, numbers from target
        union all
        select feed, range from listed
      ) as part
      group by feed
    ), read as (
      select feed,
             range_agg(number) filter (where is_verified) as verified,
             range_agg(number) filter (where is_new) as new,
             count(*) filter (where is_new and blocks_count > 0) as heads
      from (
        select target.feed, blocks_count, is_verified,
               int8range(batch_number, batch_number + 1) as number,
               not is_verified and batch_number > coalesce(settled_to, 0) and not exists (
                 select from listed where listed.feed = target.feed and batch_number <@ range
               ) as is_new
        from target
        join etl.batch_states as batch
          on batch.chain_id = target.chain_id
          and batch.operation = target.operation
          and batch_number >= lower(numbers) and batch_number < upper(numbers)
      ) as batch
      group by feed
    ), walked as (
      select walks.feed, range_agg(int8range(batch, batch + 1)) as numbers
      from etl.walks
      join etl.runs on runs.id = walks.run_id and runs.state = 'open'
      where walks.state = 'running' and walks.kind = 'numbered' and batch is not null
      group by walks.feed
    ), known as (
      select wanted.feed, wanted.numbers as wanted, coalesce(verified, '{}') as verified,
             coalesce(walked.numbers, '{}') * wanted.numbers - coalesce(verified, '{}') as reading,
             case when heads <= ${mostInHead}::bigint then coalesce(new, '{}') else '{}' end as new
      from wanted
      left join read using (feed)
      left join walked using (feed)
    )
    select feed, upper(wanted) as ends, lower(wanted) as begins,
           verified - coalesce(places, '{}') as verified, reading,
           verified * coalesce(places, '{}') as quarantined, '{}'::int8multirange as unknown,
           coalesce(new, '{}') - reading as unverified,
           wanted - verified - reading - coalesce(new, '{}') as gap,
           int8multirange(int8range(least(1, lower(wanted)), upper(wanted))) - wanted as out_of_range
    from known
    left join etl.quarantined using (feed)
  `;

/** That of a batch's last block. */
const times = sql`
  select requested.feed, requested."from", requested."to", batch.batch_number, block.timestamp
  from requested
  join etl.feeds using (feed)
  join etl.batch_states as batch
    on batch.chain_id = feeds.chain_id
    and batch.operation = feeds.operation
    and batch_number = requested.height
    and blocks_count > 0
  join etl.batch_blocks as block
    on block.chain_id = batch.chain_id
    and block.operation = batch.operation
    and block.height = last_height
  where kind = 'numbered'
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

export const numberedStatus: KindStatus<NumberedSettings, BatchFacts> = {
  name: 'numbered',
  coverage,
  isPrunable,
  covers: () => 'batches',
  reach,
  ribbon: { parts, times },
  facts,
  settings: numberedSettings,
  bounds: ['fromBatch', 'toBatch'],
  isBounded: ({ fromBatch, toBatch }) => fromBatch !== 1 || toBatch !== null,
  estimate(known, { fromBatch, toBatch: to, reread }, { pageSize, pollsPerDay }) {
    const found = known ?? nothingKnown;
    return {
      history: batchHistory(found, { from: fromBatch, to, pageSize }),
      upkeep: batchUpkeep(found, { pollsPerDay, reread, to, pageSize }),
    };
  },
  examples: { sync: '--from-batch 1 --to-batch 20', backfill: '--from-batch 1' },
};
