import { sql, type SQL } from 'drizzle-orm';

/**
 * As SQL: whether a walk that brought nothing, a row `later`, is spare: one of a batch that is verified, so that
 * it is never read again, which a newer walk has read too. Polls above the newest batch are counted: how far
 * the next one looks depends on it.
 */
export const isPrunable = (): SQL => sql`
  exists (
    select from etl.feeds
    join explorer.read_batches as batch
      on batch.chain_id = feeds.chain_id and batch.batch_number <= frontier
    where feeds.feed = later.feed and batch.batch_number = later.batch and is_proved
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
