import { sql } from 'drizzle-orm';
import type { Database } from '../db/transaction.ts';
import { censusNotes, countedFactories } from './census.ts';
import { driftNotes } from './drift.ts';
import { droppedNotes } from './dropped.ts';
import { isProved, unproved } from './evidence.ts';

/** A range that is proved complete: blocks of user operations, numbers of batches, ranks of factories. */
export interface CoveredRange {
  readonly from: number;
  readonly to: number;
  /** ISO 8601: complete as the service stood then; of its parts, the one whose proof is oldest. */
  readonly as_of: string;
  /** ISO 8601: when the newest look at a part of it was that proves it. */
  readonly newest_look: string;
}

/** What of a feed is proved, and each thing that is not. The feed is complete when `open` is empty. */
export interface FeedCertificate {
  readonly feed: string;
  readonly chain_id: number;
  readonly operation: string;
  readonly covered: readonly CoveredRange[];
  /** What is read and not proved yet because it is new: no more open than what is yet to come. */
  readonly head: readonly string[];
  readonly open: readonly string[];
  /** What qualifies the proof, or should be known, and no walk would mend. */
  readonly notes: readonly string[];
}

/**
 * The certificate of every feed, read from what was committed, never from the service. It begins with
 * what was asked for, every feed that was ever registered: one of which nothing is proved is open,
 * whatever it is, and so is one of which something is found that is not.
 */
export async function certify(db: Database): Promise<FeedCertificate[]> {
  const { rows } = await db.execute<{ certificate: FeedCertificate }>(sql`
    with finding as (${findings})
    select json_build_object(
      'feed', feed,
      'chain_id', feeds.chain_id,
      'operation', feeds.operation,
      'covered', coalesce(
        (
          select json_agg(
            json_build_object(
              'from', from_block, 'to', to_block, 'as_of', as_of, 'newest_look', newest_as_of
            )
            order by from_block
          )
          from explorer.coverage
          where coverage.chain_id = feeds.chain_id and coverage.operation = feeds.operation
        ),
        case when feeds.operation = 'optimism-batch-blocks' then (${provedBatches}) end,
        case when feeds.operation = 'factories' then (${countedFactories}) end,
        '[]'
      ),
      'head', coalesce((${headBatches}), '[]'),
      'open', coalesce(
        (
          select json_agg(open order by open)
          from finding
          where finding.chain_id = feeds.chain_id and finding.operation = feeds.operation
        ),
        case when not ${isProved} then json_build_array(${unproved}) end,
        '[]'
      ),
      'notes', (${driftNotes})::jsonb || coalesce(
        case when feeds.operation = 'factories' then (${censusNotes})::jsonb end, '[]'
      ) || coalesce((${droppedNotes})::jsonb, '[]') || (${batchNotes})::jsonb
    ) as certificate
    from etl.feeds
    order by feeds.chain_id, feeds.operation
  `);
  return rows.map(({ certificate }) => certificate);
}

/** Ranges of numbers that the chain proves, as of the oldest and the newest conclusion in each. */
const provedBatches = sql`
  select json_agg(
    json_build_object(
      'from', lower(range), 'to', upper(range) - 1, 'as_of', look.oldest, 'newest_look', look.newest
    )
    order by range
  )
  from (
    select unnest(range_agg(int8range(batch_number, batch_number + 1))) as range
    from explorer.optimism_batches
    where optimism_batches.chain_id = feeds.chain_id and is_proved
  ) as proved,
  lateral (
    select min(walked_at) as oldest, max(walked_at) as newest
    from explorer.optimism_batches
    where optimism_batches.chain_id = feeds.chain_id
      and batch_number >= lower(range)
      and batch_number < upper(range)
  ) as look
`;

/** What lies above the highest settled batch: it is read, and waits for what is to come. */
const headBatches = sql`
  select json_agg(
    'batches ' || lower(range) || ' to ' || upper(range) - 1 || ': wait for ' || waits_for
    order by range
  )
  from (
    select waits_for, unnest(range_agg(int8range(batch_number, batch_number + 1))) as range
    from etl.batch_heads
    where batch_heads.chain_id = feeds.chain_id and batch_heads.operation = feeds.operation
    group by waits_for
  ) as head
`;

/** What qualifies the proof of batches. */
const batchNotes = sql`
  select coalesce(json_agg(note order by note), '[]')
  from etl.batch_notes
  where batch_notes.chain_id = feeds.chain_id and batch_notes.operation = feeds.operation
`;

/** What is known to be missing or doubtful, one line each: it keeps a feed from being complete. */
const findings = sql`
  select chain_id, operation, 'gap: blocks ' || from_block || ' to ' || to_block as open
  from explorer.gaps
  union all
  select chain_id, operation, finding
  from etl.batch_findings
  union all
  select chain_id, operation, finding
  from etl.reread_findings
  union all
  select chain_id, operation, count(*) || ' items in quarantine'
  from etl.quarantine
  where dropped_at is null
  group by chain_id, operation
  union all
  select chain_id, operation, state || coalesce(': ' || reason, '')
  from etl.feeds
  where state not in ('idle', 'running')
`;
