import { sql } from 'drizzle-orm';
import { type Database, transact } from '../db/transaction.ts';
import type { HeadFinding, Note, OpenFinding } from '../documents/finding.ts';
import { driftNotes } from '../drift/record.ts';
import { byKind } from '../lists/by-kind.ts';
import { kinds } from '../lists/index.ts';
import type { ListKindName, ListUnit } from '../operations/operation.ts';
import { droppedNotes } from '../quarantine/list.ts';
import { isProved, unproved } from './evidence.ts';

/** A range that is proved complete: blocks of user operations, numbers of batches, ranks of factories. */
export interface CoveredRange {
  readonly from: number;
  readonly to: number;
  /** ISO 8601: complete as the service stood then; of its parts, the one whose proof is oldest. */
  readonly as_of: string;
  /** ISO 8601: when the newest walk began, or was judged, that proves a part of it. */
  readonly newest_as_of: string;
}

/** What of a feed is proved, and each thing that is not. The feed is complete when `open` is empty. */
export interface FeedProof {
  readonly feed: string;
  readonly chain_id: number;
  /** Its name; null where the chain's row is gone. */
  readonly chain: string | null;
  readonly operation: string;
  readonly kind: ListKindName;
  /** What the ranges of a newest-first list count. */
  readonly unit: ListUnit;
  readonly covered: readonly CoveredRange[];
  /** What is read and not proved yet because it is new: no more open than what is yet to come. */
  readonly head: readonly HeadFinding[];
  readonly open: readonly OpenFinding[];
  /** What qualifies the proof, or should be known, and no walk would mend. */
  readonly notes: readonly Note[];
}

/**
 * The proof of every feed, read from what was committed, never from the service. It begins with
 * what was asked for, every feed that was ever registered: one of which nothing is proved is open,
 * whatever it is, and so is one of which something is found that is not.
 */
export async function prove(db: Database): Promise<FeedProof[]> {
  const { rows } = await transact(db, async (tx) => {
    // A statement of hundreds of parts: where Postgres compiles it, that takes a minute.
    await tx.execute(sql`set local jit = off`);
    return tx.execute<{ proof: FeedProof }>(proofs());
  });
  return rows.map(({ proof }) => proof);
}

const proofs = () => sql`
    with findings as (${findings})
    select json_build_object(
      'feed', feed,
      'chain_id', feeds.chain_id,
      'chain', (select name from explorer.chains where chains.chain_id = feeds.chain_id),
      'operation', feeds.operation,
      'kind', feeds.kind,
      'unit', feeds.unit,
      'covered', coalesce(${byKind(({ proof }) => sql`(${proof.covered})`)}, '[]'),
      'head', coalesce(${byKind(({ proof }) => sql`(${proof.head})`)}, '[]'),
      'open', coalesce(
        (
          select jsonb_agg(finding order by ${place}, finding)
          from findings
          where findings.feed = feeds.feed
        ),
        case when not ${isProved} then jsonb_build_array(${unproved}) end,
        '[]'
      ),
      'notes', coalesce(${byKind(({ proof }) => sql`(${proof.notes})`)}, '[]')
        || coalesce((${droppedNotes}), '[]')
        || coalesce((${driftNotes}), '[]')
    ) as proof
    from etl.feeds
    order by feeds.chain_id, feeds.operation
`;

/** Where in its list a finding is; as SQL. What is about all of it comes last. */
const place = sql`coalesce(
  finding -> 'from_block', finding -> 'from_batch', finding -> 'batch', finding -> 'lower_batch'
)`;

/** What is known to be missing or doubtful: each keeps a feed from being complete. */
const findings = sql`
  ${sql.join(
    Object.values(kinds).map(({ proof }) => proof.findings),
    sql` union all `,
  )}
  union all
  select feed, finding
  from etl.total_findings
  union all
  select feed, jsonb_build_object('kind', 'quarantine', 'items', items)
  from etl.quarantined
  union all
  select feed, jsonb_build_object('kind', 'state', 'state', state, 'reason', reason)
  from etl.feeds
  where state not in ('idle', 'running')
`;
