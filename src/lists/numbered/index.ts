import { sql } from 'drizzle-orm';
import { tableName } from '../../db/column-types.ts';
import { hasRows, type Queryable, valueOf } from '../../db/query.ts';
import { type Database, transact, type Transaction } from '../../db/transaction.ts';
import { type Feed, type FeedLane, feedName, lockEnds, ofFeed } from '../feed.ts';
import type { Estimate, ListKind, RequestCount, ScopeBounds } from '../list.ts';
import type { EndClaim, EndVerdict, NumberedWalk, Operation } from '../operation.ts';
import { parallelOf } from '../pace.ts';
import { operations } from '../registry.ts';
import { listOf, type NumberedList, tablesOf, tablesOfFeed } from './list.ts';
import { isDue, planBackfillBatch, planLiveBatch } from './plan.ts';
import { concludeBatch } from './settle.ts';
import { type BatchFacts, numberedStatus, type NumberedSettings } from './status.ts';
import type { NumberedScope } from './walks.ts';

function lanes(settings: NumberedSettings, { fromBatch, toBatch }: ScopeBounds) {
  const from_batch = fromBatch ?? settings.fromBatch;
  const to_batch = toBatch ?? settings.toBatch ?? undefined;
  if (to_batch !== undefined) {
    return [{ lane: 'backfill' as const, scope: { from_batch, to_batch } }];
  }
  const scope = { from_batch, reread: settings.reread };
  return [
    { lane: 'live' as const, scope },
    { lane: 'backfill' as const, scope },
  ];
}

/** Lists by number, one for each: the newest numbers are found, and followed. */
export const numbered: ListKind<NumberedSettings, NumberedScope, NumberedWalk, BatchFacts> = {
  ...numberedStatus,
  canReadAgain: false,
  lanes,
  extended: (settings) => settings,
  target: (settings, { fromBatch, toBatch }) =>
    fromBatch === undefined && toBatch === undefined
      ? null
      : { fromBatch: fromBatch ?? settings.fromBatch, toBatch: toBatch ?? settings.toBatch },
  walkScope: ({ from_batch = 1 }) => ({ batch: from_batch }),
  isDue,
  walksAtOnce: parallelOf,
  noteTarget,
  reconcileTarget,
  nextWalk: (tx, run, at) =>
    run.lane === 'live' ? planLiveBatch(tx, run, at) : planBackfillBatch(tx, run, at),
  sqlNames,
  repairs: (db, { lane }) => batchesToRead(db, lane),
  repairRequests,
  decidesMembership: true,
  judgeEnd: (operation, db, claim) => judgeBatchEnd(listOf(operation), db, claim),
  // A page alone says nothing beyond its rows.
  informative: () => Promise.resolve(new Set()),
  afterPage: () => Promise.resolve(true),
  afterWalk: (operation, tx, walk) => concludeBatch(listOf(operation), tx, walk),
};

function sqlNames(operation: Operation) {
  const { name, table, states, number, listed } = listOf(operation);
  const names = { name, blocks: tableName(table), states: tableName(states), number };
  const other =
    listed === null ? null : Object.values(operations).find((one) => one.name === listed.operation);
  return {
    ...names,
    listed: other === undefined || other === null ? null : tableName(other.table),
    listed_number: other?.order?.columns.height ?? null,
    listed_first: listed?.first ?? null,
    listed_last: listed?.last ?? null,
  };
}

async function noteTarget(tx: Transaction, lane: FeedLane, scope: NumberedScope): Promise<void> {
  const range = rangeOf(scope);
  if (range === null) return;
  await tx.execute(sql`
    update etl.feeds
    set target_numbers = target_numbers + int8multirange(${range}::int8range)
    where ${ofFeed(lane)} and not target_numbers @> ${range}::int8range
  `);
}

/** Replaces the target: unread numbers leave it, read ones above the lowest verified one stay. */
async function reconcileTarget(
  db: Database,
  feed: Feed,
  scopes: readonly NumberedScope[],
): Promise<void> {
  const ranges = scopes.flatMap((scope) => rangeOf(scope) ?? []);
  if (ranges.length === 0) return;
  const { chain_id: chainId } = feed;
  const { states } = tablesOfFeed(feed);
  await db.execute(sql`
    with wanted as (
      select range_agg(range) as numbers from unnest(${sql.param(ranges)}::int8range[]) as range
    ), other as (
      select target_numbers - numbers as numbers from etl.feeds, wanted where ${ofFeed(feed)}
    ), fragment as (
      select unnest(range_agg(int8range(batch_number, batch_number + 1))) as range
      from other, ${states}
      where not isempty(numbers) and chain_id = ${chainId} and batch_number <@ numbers
    ), kept as (
      select range_agg(int8range(lowest, upper(range))) as numbers
      from fragment, lateral (
        select min(batch_number) as lowest
        from ${states}
        where chain_id = ${chainId}
          and batch_number >= lower(range)
          and batch_number < upper(range)
          and is_verified
      ) as verified
      where lowest is not null
    )
    update etl.feeds
    set target_numbers = wanted.numbers + coalesce(kept.numbers, '{}')
    from wanted, kept
    where ${ofFeed(feed)} and target_numbers <> wanted.numbers + coalesce(kept.numbers, '{}')
  `);
}

/** The batches of a scope as a range in the format of Postgres; null: it names none. */
function rangeOf({ from_batch, to_batch }: NumberedScope): string | null {
  if (from_batch === undefined || (to_batch !== undefined && to_batch < from_batch)) return null;
  return `[${from_batch},${to_batch === undefined ? '' : to_batch + 1})`;
}

/** Pages of a batch while none was read: 3 to 29 are usual. */
const unreadPages = 16;

/** About how many requests the repairs take, at the pages that a batch has on average. */
async function repairRequests(
  db: Database,
  feed: Feed,
  _history: Estimate,
  { pageSize }: { readonly pageSize: number },
): Promise<RequestCount> {
  const statement = sql`
    select ceil(sum(upper(range) - lower(range)) * coalesce(
      (
        select avg(ceil(blocks_count::numeric / ${pageSize}::bigint)) from ${tablesOfFeed(feed).states}
        where chain_id = ${feed.chain_id} and blocks_count > 0
      ),
      ${unreadPages}::bigint
    ))::float8
    from (
      select unnest(range_agg(numbers)) as range from etl.batch_findings where ${ofFeed(feed)}
    ) as wanted
  `;
  const requests = (await valueOf<number>(db, statement)) ?? 0;
  return { likely: requests, most: requests };
}

/**
 * The batches that the coverage finds open, as ranges, newest first. Those with broken blocks become unread: the next
 * walk would stop at a block that it knows. After a change by hand, a settled one is open again.
 */
const batchesToRead = (db: Database, feed: Feed): Promise<readonly NumberedScope[]> =>
  transact(db, async (tx) => {
    const { states } = tablesOfFeed(feed);
    await lockEnds(tx, { feed: feedName(feed) });
    const broken = sql`select numbers from etl.block_findings where ${ofFeed(feed)}`;
    if (await hasRows(tx, broken)) {
      await tx.execute(sql`lock table etl.walks in exclusive mode`);
      await tx.execute(sql`
        delete from ${states} using (${broken}) as finding
        where chain_id = ${feed.chain_id} and batch_number <@ numbers
      `);
    }
    const { rows } = await tx.execute<{ from_batch: number; to_batch: number }>(sql`
      with wanted as materialized (
        select unnest(range_agg(numbers)) as range from etl.batch_findings where ${ofFeed(feed)}
      ), withdrawn as (
        update ${states}
        set state = 'open', is_verified = false, updated_at = now()
        from wanted
        where chain_id = ${feed.chain_id} and state = 'settled' and batch_number <@ range
      )
      select lower(range)::float8 as from_batch, (upper(range) - 1)::float8 as to_batch
      from wanted
      order by range desc
    `);
    return rows;
  });

interface Standing extends Record<string, unknown> {
  /** The lowest block that the walk was served; null: none. */
  readonly lowest: number | null;
  /** Stored blocks of the batch below `lowest`. */
  readonly stored_below: number;
  readonly is_verified: boolean;
  /** The batch of the stored block that the lowest one names as its parent. */
  readonly stands_on: number | null;
  /** The nearest lower batch with blocks. */
  readonly below: number | null;
  /** Whether every number between `below` and this one was read. */
  readonly is_next: boolean;
}

/**
 * Whether stored rows support the end of a batch's list: neighbours verify it, so a claim passes
 * unless stored blocks are missing, the batch below does not meet it, or the end is odd.
 */
async function judgeBatchEnd(
  list: NumberedList,
  db: Queryable,
  claim: EndClaim<NumberedWalk>,
): Promise<EndVerdict> {
  const batch = claim.scope.batch;
  const found = await standing(list, db, claim);
  const { lowest, stored_below, is_verified, stands_on, below, is_next } = found;
  const from = lowest === null ? 'no block' : `no block below ${lowest}`;
  if (is_verified && stored_below > 0) {
    return {
      is: 'contradicted',
      evidence: `batch ${batch} lists ${from}, and ${stored_below} are verified`,
      question: null,
    };
  }
  if (stored_below > 0) return { is: 'unsupported' };
  if (stands_on !== null && stands_on < batch) return { is: 'supported' };
  if (isOdd(claim)) return { is: 'unsupported' };
  if (lowest === null) return { is: 'supported' };
  // The lower neighbour is read already, and this is not its upper border.
  return { is: below !== null && is_next ? 'unsupported' : 'supported' };
}

/** An empty page cannot follow a cursor, which names an item; a full page mostly has a cursor. */
const isOdd = ({ rows, quarantined, entry, isFull }: EndClaim) =>
  isFull || (rows.length + quarantined === 0 && entry !== 'head');

async function standing(
  list: NumberedList,
  db: Queryable,
  { walk_id, chain_id, scope: { batch }, rows: served }: EndClaim<NumberedWalk>,
): Promise<Standing> {
  const page = served
    .flatMap(({ height, row }) => (height === null ? [] : [{ height, parent: row['parent_hash'] }]))
    .toSorted((a, b) => a.height - b.height)[0];
  const { blocks, states, number } = tablesOf(list);
  const { rows } = await db.execute<Standing>(sql`
    with walked as (
      select least(min(bottom), ${page?.height ?? null}::bigint) as lowest
      from etl.pages
      where walk_id = ${walk_id}
    ), parent as (
      select case
               when lowest = ${page?.height ?? null}::bigint then ${page?.parent ?? null}::text
               else (
                 select parent_hash from ${blocks} where chain_id = ${chain_id} and height = lowest
               )
             end as hash
      from walked
    ), below as (
      select max(batch_number) as number
      from ${states}
      where chain_id = ${chain_id} and blocks_count > 0 and batch_number < ${batch}
    )
    select lowest::float8 as lowest,
           (
             select count(*) from ${blocks}
             where chain_id = ${chain_id}
               and ${number} = ${batch}
               and height < coalesce(lowest, ${Number.MAX_SAFE_INTEGER}::bigint)
           )::float8 as stored_below,
           exists (
             select from ${states}
             where chain_id = ${chain_id} and batch_number = ${batch} and is_verified
           ) as is_verified,
           (
             select ${number} from ${blocks} as stored
             where chain_id = ${chain_id} and height = lowest - 1 and stored.hash = parent.hash
           )::float8 as stands_on,
           below.number::float8 as below,
           (
             select count(*) from ${states}
             where chain_id = ${chain_id} and batch_number > below.number and batch_number < ${batch}
           ) = ${batch}::bigint - below.number - 1 as is_next
    from walked, parent, below
  `);
  const [found] = rows;
  if (found === undefined) throw new Error('an aggregate has one row');
  return found;
}
