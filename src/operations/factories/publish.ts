import { sql } from 'drizzle-orm';
import type { Transaction } from '../../db/transaction.ts';
import type { WalkContext } from '../operation.ts';

/** What is known of a ranking beside its entries. */
interface RankingFacts {
  /** How many walks it took. */
  readonly walks: number;
  /** Whether rows still moved during the last of them. */
  readonly stillMoving: boolean;
}

/** Each factory that a walk of the run met, as the latest of them saw it. */
const latestObservations = (walk: WalkContext) => sql`
  select distinct on (address_hash) address_hash, walk_id, started_at, position, total_accounts
  from etl.ranking_entries
  join etl.walks on walks.id = walk_id
  where run_id = ${walk.run_id}
  order by address_hash, walk_id desc
`;

/**
 * Publishes a ranking at once: ranks, who is missing, and a history row for each factory whose count
 * changed. Readers see the whole ranking or the one before it. A factory is missing only if no walk
 * of the run met it.
 */
export async function publishRanking(
  tx: Transaction,
  walk: WalkContext,
  facts: RankingFacts,
): Promise<void> {
  await publishRanks(tx, walk);
  await publishHistory(tx, walk);
  await recordRanking(tx, walk, facts);
  // Of other runs too: what an interrupted or a superseded ranking met is published by nobody.
  await tx.execute(sql`
    delete from etl.ranking_entries
    where (select chain_id from etl.walks where walks.id = walk_id) = ${walk.chain_id}
  `);
}

/**
 * By accounts; among equals as the service listed them, then those that only earlier walks met. While
 * an item of the run is in quarantine, nobody becomes missing: it may be the factory that was not met.
 */
async function publishRanks(tx: Transaction, walk: WalkContext): Promise<void> {
  await tx.execute(sql`
    with ranked as (
      select address_hash, row_number() over (
        order by total_accounts desc nulls last, walk_id desc, position
      ) as rank
      from (${latestObservations(walk)}) as observation
    ), observations as materialized (
      select not exists (
        select from etl.pages
        join etl.walks on walks.id = walk_id
        where run_id = ${walk.run_id} and pages.quarantined > 0
      ) as is_whole
    ), judged as (
      select factory.address_hash, ranked.rank,
             case
               when ranked.rank is not null then null
               when not (select is_whole from observations) then factory.missing_since
               else coalesce(factory.missing_since, now())
             end as missing_since
      from explorer.factories as factory
      left join ranked using (address_hash)
      where factory.chain_id = ${walk.chain_id}
    )
    update explorer.factories as t
    set rank = judged.rank,
        missing_since = judged.missing_since,
        updated_at = now(),
        page_id = greatest(t.page_id, ${walk.page_id}::bigint)
    from judged
    where t.chain_id = ${walk.chain_id}
      and t.address_hash = judged.address_hash
      and (t.rank, t.missing_since) is distinct from (judged.rank, judged.missing_since)
  `);
}

/** A count that was not told, or came as something else, is no change: a history would keep it for good. */
async function publishHistory(tx: Transaction, walk: WalkContext): Promise<void> {
  await tx.execute(sql`
    insert into explorer.factory_history (
      chain_id, address_hash, observed_at, total_accounts, page_id
    )
    select ${walk.chain_id}::bigint, observation.address_hash, now(), observation.total_accounts,
           ${walk.page_id}::bigint
    from (${latestObservations(walk)}) as observation
    left join lateral (
      select total_accounts
      from explorer.factory_history
      where chain_id = ${walk.chain_id} and address_hash = observation.address_hash
      order by observed_at desc
      limit 1
    ) as last on true
    where observation.total_accounts is not null
      and last.total_accounts is distinct from observation.total_accounts
    order by address_hash
  `);
}

/** Keeps what `verify` says of the ranking: how much it holds, and as of when. */
async function recordRanking(
  tx: Transaction,
  walk: WalkContext,
  { walks, stillMoving }: RankingFacts,
): Promise<void> {
  await tx.execute(sql`
    insert into etl.rankings (walk_id, chain_id, as_of, published_at, factories, walks, still_moving)
    select ${walk.walk_id}::bigint, ${walk.chain_id}::bigint,
           coalesce(min(started_at), ${walk.started_at}::timestamptz), now(), count(*),
           ${walks}::int, ${stillMoving}
    from (${latestObservations(walk)}) as observation
  `);
}
