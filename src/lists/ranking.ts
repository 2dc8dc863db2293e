import { sql } from 'drizzle-orm';
import type { Transaction } from '../db/transaction.ts';
import type { ItemRows, WalkContext } from './operation.ts';
import { tokenFactory } from './positions.ts';

/** Why a walk that reached the list's end gives no ranking: the order changed meanwhile. */
export const rowsMoved = 'moved';

/**
 * Why no ranking was published: the service listed no factory, time after time, though some are stored.
 * Contracts don't vanish; a service under repair answers so.
 */
export const listEmpty = 'empty';

/**
 * Why a walk that reached the list's end gives no ranking: the service skipped a part of the list, with an
 * empty page that leads on to what is below.
 */
export const partSkipped = 'skipped';

/**
 * How many walks a ranking takes at most. An order that never stands still would be read for ever;
 * a row that three walks missed is more likely gone than on the move each time.
 */
const walksAtMost = 3;

/**
 * Notes what a page of a ranking saw, so that a resumed ranking still knows its first pages, and what
 * of it shows that rows moved: a factory met before, one with more accounts than the one above, or a page
 * that begins with another factory than its cursor names. A cursor that names the one above is no sign.
 * The last one of a page again as the first of the next, unchanged, is how some services page.
 *
 * @returns true: what is stored of a ranking speaks against no page of another
 */
export async function noteRankingPage(
  tx: Transaction,
  walk: WalkContext,
  rows: readonly ItemRows[],
): Promise<true> {
  const named = walk.cursor === null || !walk.isConclusive ? null : tokenFactory(walk.cursor);
  const entries = rows.map(({ key, row, position }, index) => ({
    address_hash: row['address_hash'],
    total_accounts: row['total_accounts'],
    position,
    is_other: index === 0 && named !== null && key !== named,
  }));
  await tx.execute(sql`
    with page as (
      select *
      from json_to_recordset(${JSON.stringify(entries)}::json)
        as entry(address_hash text, position bigint, total_accounts bigint, is_other boolean)
    ), last as (
      select address_hash, position, total_accounts
      from etl.ranking_entries
      where walk_id = ${walk.walk_id}
      order by position desc
      limit 1
    )
    insert into etl.ranking_entries (walk_id, address_hash, position, total_accounts, has_moved)
    select ${walk.walk_id}::bigint, page.address_hash, page.position, page.total_accounts,
           page.is_other and last.address_hash is distinct from ${named} or coalesce(
             page.total_accounts
               > lag(page.total_accounts, 1, last.total_accounts) over (order by page.position),
             false
           ) or (
             met.walk_id is not null
             and (
               met.position < last.position
               or met.total_accounts is distinct from page.total_accounts
             )
           )
    from page
    left join last on true
    left join etl.ranking_entries as met
      on met.walk_id = ${walk.walk_id} and met.address_hash = page.address_hash
    on conflict (walk_id, address_hash) do update
    set position = excluded.position,
        total_accounts = excluded.total_accounts,
        has_moved = ranking_entries.has_moved or excluded.has_moved
  `);
  return true;
}

/**
 * Ends a ranking that walked the whole list: publishes it, or asks for another walk where rows moved,
 * because one that moved up across the cursor was met by no page. The last walk is published anyway,
 * with a note, unless none of them met anybody. One that may have skipped a part of the list says less
 * than a whole list, and another would be served the same: nothing is published.
 *
 * @returns null when it was published; else why it was not
 */
export async function concludeRanking(tx: Transaction, walk: WalkContext): Promise<string | null> {
  const { rows } = await tx.execute<{ walks: number }>(
    sql`
      select count(*)::int as walks from etl.walks
      where run_id = ${walk.run_id} and failure is distinct from 'truncated'
    `,
  );
  const walks = rows[0]?.walks ?? 1;
  const stillMoving = await showsMovement(tx, walk);
  if (await skippedPart(tx, walk)) return partSkipped;
  if (stillMoving && walks < walksAtMost) return rowsMoved;
  if (stillMoving && !(await metSomebody(tx, walk))) return listEmpty;
  await publishRanking(tx, walk, { walks, stillMoving });
  return null;
}

/** Whether any walk of the run met a factory, or an item that may be one. */
async function metSomebody(tx: Transaction, walk: WalkContext): Promise<boolean> {
  const { rows } = await tx.execute<{ somebody: boolean }>(sql`
    select exists (
      select from etl.ranking_entries join etl.walks on walks.id = walk_id
      where run_id = ${walk.run_id}
    ) or exists (
      select from etl.pages join etl.walks on walks.id = walk_id
      where run_id = ${walk.run_id} and pages.quarantined > 0
    ) as somebody
  `);
  return rows[0]?.somebody ?? false;
}

/**
 * Whether a walk shows that rows moved while it was under way, in what it met or in what it did not
 * meet. A factory of the last ranking that two walks in a row did not meet has left the list: that
 * is no movement, or each one that leaves would cost a third walk. Nor are as many as stand in
 * quarantine: they may be those, and another walk would meet them no better.
 */
async function showsMovement(tx: Transaction, walk: WalkContext): Promise<boolean> {
  const { rows } = await tx.execute<{ moved: boolean }>(sql`
    with before as (
      select address_hash
      from etl.ranking_entries
      join etl.walks on walks.id = walk_id
      where run_id = ${walk.run_id} and walk_id <> ${walk.walk_id}
    ), expected as (
      select address_hash from before
      union all
      select address_hash
      from explorer.factories
      where chain_id = ${walk.chain_id} and rank is not null and not exists (select from before)
    )
    select exists (
      select from etl.ranking_entries where walk_id = ${walk.walk_id} and has_moved
    ) or (
      select count(*)
      from (
        select address_hash from expected
        except
        select address_hash from etl.ranking_entries where walk_id = ${walk.walk_id}
      ) as unmet
    ) > (
      select coalesce(sum(quarantined), 0) from etl.pages where walk_id = ${walk.walk_id}
    ) as moved
  `);
  return rows[0]?.moved ?? false;
}

/** Where a token points to in the list, which is how the service parses it; as SQL. */
const positionOf = (cursor: 'cursor_in' | 'cursor_out') =>
  sql`lower(substring(${sql.raw(cursor)} ->> 'page_token' from '^\\d+,0x[0-9a-fA-F]{40}'))`;

/**
 * Whether a walk met an empty page that leads on, and nothing shows that no factory stands in between:
 * neither a token of the same position, nor that all of the last ranking were met.
 */
async function skippedPart(tx: Transaction, walk: WalkContext): Promise<boolean> {
  const { rows } = await tx.execute<{ skipped: boolean }>(sql`
    select exists (
      select from etl.pages
      where walk_id = ${walk.walk_id} and items = 0 and cursor_out is not null
        and (${positionOf('cursor_in')} = ${positionOf('cursor_out')}) is not true
    ) and (
      select coalesce(bool_or(entry.address_hash is null), true)
      from explorer.factories as factory
      left join etl.ranking_entries as entry
        on entry.walk_id = ${walk.walk_id} and entry.address_hash = factory.address_hash
      where chain_id = ${walk.chain_id} and rank is not null
    ) as skipped
  `);
  return rows[0]?.skipped ?? false;
}

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
async function publishRanking(
  tx: Transaction,
  walk: WalkContext,
  facts: RankingFacts,
): Promise<void> {
  await publishRanks(tx, walk);
  await publishHistory(tx, walk);
  await recordRanking(tx, walk, facts);
  // Of other runs too: what an interrupted or a superseded ranking met is never published.
  await tx.execute(sql`
    delete from etl.ranking_entries
    where (select chain_id from etl.walks where walks.id = walk_id) = ${walk.chain_id}
  `);
}

/**
 * By accounts; among equals as the service listed them, then those that only earlier walks met. While
 * an item of the run is in quarantine, no factory becomes missing: it may be the factory that was not met.
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

/** A count that is missing, or of another type, is no change: a history would keep it for good. */
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
