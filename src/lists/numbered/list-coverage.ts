import { sql, type SQL } from 'drizzle-orm';
import type { ListCoverage } from '../list.ts';

/** Verified by the chain, or, up to a last number, by being read: a few batches lack neighbours. */
const shows = sql`exists (
  select from explorer.read_batches as batch
  where batch.chain_id = feeds.chain_id and is_verified and batch_number <@ target_numbers
) or (
  not upper_inf(target_numbers) and target_numbers <> '{}'
  and (select sum(upper(range) - lower(range)) from unnest(target_numbers) as range) = (
    select count(*) from explorer.read_batches as batch
    where batch.chain_id = feeds.chain_id and batch_number <@ target_numbers
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
    from explorer.read_batches
    where read_batches.chain_id = feeds.chain_id and is_verified
  ) as verified,
  lateral (
    select min(walked_at) as oldest, max(walked_at) as newest
    from explorer.read_batches
    where read_batches.chain_id = feeds.chain_id
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

export const listCoverage: ListCoverage = {
  shows,
  lacks: 'no-verified-batch',
  by: 'ranges',
  covered: verifiedBatches,
  notes: batchNotes,
  findings: sql`select feed, finding from etl.batch_findings`,
  readsAgain: sql`later.reason is null and later.batch = (item.scope ->> 'batch')::bigint`,
};

/** As SQL: whether a newer walk read the same verified batch. Polls stay: the next counts them. */
export const isPrunable = (): SQL => sql`
  exists (
    select from etl.feeds
    join explorer.read_batches as batch
      on batch.chain_id = feeds.chain_id and batch.batch_number <= latest_batch
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
      and batch_number = later.batch
      and walk_id = later.id
  )
`;
