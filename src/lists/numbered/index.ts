import { sql } from 'drizzle-orm';
import { z } from 'zod';
import { changeTime } from '../../db/changes.ts';
import { execute, type Database, type Queryable, transact } from '../../db/transaction.ts';
import { type Feed, feedName, lockEnds, ofFeed, parallelOf } from '../feed.ts';
import {
  about,
  atLeast,
  type Estimate,
  type EstimateOptions,
  halfPage,
  likelyUpTo,
  type ListKind,
  none,
  noneRefuted,
  type PollFacts,
  polling,
  pollsMeasured,
  type RepairOptions,
  type RequestCount,
  type ScopeBounds,
  upTo,
} from '../list.ts';
import type { NumberedOperation, NumberedWalk } from '../operation.ts';
import { isDue, planBackfillBatch, planLiveBatch } from './plan.ts';
import { concludeBatch, judgeBatchEnd } from './settle.ts';
import { isOf, type NumberedScope, tablesOf } from './walks.ts';

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

const batchNumber = z.int().min(0);

/** Keys of numbered lists; parsing `{}` gives the defaults. */
const numberedSettings = ({ guide, defaults }: NumberedOperation) =>
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
          'How many of the newest numbers are read again each time until they are verified, because a batch can be seen half imported. Each costs one page of 20 credits where nothing is new. One whose blocks do not link, though its last read brought nothing, is read again at growing intervals. Without effect beside to_batch.',
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

type NumberedSettings = z.output<ReturnType<typeof numberedSettings>>;

/** What `etl.batch_facts` says of the numbers that the settings want, up to the latest known batch. */
interface BatchFacts {
  readonly polls: PollFacts | null;
  readonly latestBatch: number | null;
  /** Numbers that were read to their end. */
  readonly read: number;
  /** Of them, unused numbers included; null: none has blocks. */
  readonly blocksPerNumber: number | null;
  /** Of the newest batches: how many come in a day, and how many blocks each has. */
  readonly perDay: number | null;
  readonly blocksEach: number | null;
  /** Blocks on the fullest page: what a page holds, whatever was requested. */
  readonly pageItems: number | null;
}

/** Pages of a batch, as chains have them (docs/api-costs.md). */
const usualPages = { least: 3, most: 29 };

/** What is left of the batches of a range. */
function historyLeft(
  known: BatchFacts | null,
  { fromBatch, toBatch }: NumberedSettings,
  { pageSize }: EstimateOptions,
): Estimate {
  const high = toBatch ?? known?.latestBatch ?? null;
  if (high === null) return atLeast(1);
  const unread = Math.max(0, high - fromBatch + 1 - (known?.read ?? 0));
  const blocks = known?.blocksPerNumber ?? null;
  return known === null || blocks === null
    ? upTo(unread * usualPages.least, unread * usualPages.most)
    : about(unread * pagesOf(blocks, known, pageSize));
}

/** Numbers that a poll tries if it finds a new batch. */
const pollsPerNewBatch = 3;

/** What it takes a day to follow the newest batches. */
function dailyUpkeep(
  known: BatchFacts | null,
  { toBatch, reread }: NumberedSettings,
  { pageSize, pollsPerDay }: EstimateOptions,
): Estimate {
  if (toBatch !== null) return none;
  const { perDay = null, blocksEach = null } = known ?? {};
  if (known === null || perDay === null || blocksEach === null) return atLeast(pollsPerDay);
  const polls = pollsPerDay + Math.min(pollsPerDay, perDay) * (pollsPerNewBatch - 1);
  const least = polls + perDay * pagesOf(blocksEach, known, pageSize);
  // Batches are read again only until they are verified.
  const most = least + pollsPerDay * reread;
  const measured = pollsMeasured(known.polls, pollsPerDay);
  return measured === null ? upTo(least, most) : likelyUpTo(measured, Math.max(measured, most));
}

const pagesOf = (blocks: number, { pageItems }: BatchFacts, pageSize: number) =>
  Math.max(1, blocks / Math.max(1, pageItems ?? pageSize) + halfPage);

/** Lists by number, one for each: the newest numbers are found, and followed. */
export const numberedKind = (
  list: NumberedOperation,
): ListKind<NumberedSettings, NumberedScope, NumberedWalk, BatchFacts> => ({
  verifies: 'batches',
  settings: numberedSettings(list),
  bounds: ['fromBatch', 'toBatch'],
  lanes,
  facts: sql`etl.batch_facts(
    feeds.feed,
    (feeds.settings ->> 'fromBatch')::bigint,
    (feeds.settings ->> 'toBatch')::bigint
  )`,
  estimate: (known, settings, how) => ({
    history: historyLeft(known, settings, how),
    upkeep: dailyUpkeep(known, settings, how),
  }),
  isDue,
  walksAtOnce: parallelOf,
  noteTarget,
  nextWalk(tx, run, at) {
    const planning = { list, tx, run, at };
    return run.lane === 'live' ? planLiveBatch(planning) : planBackfillBatch(planning);
  },
  sample: ({ from_batch = 1 }) => ({ batch: from_batch }),
  repairs: (db, { lane }) => batchesToRead(list, db, lane),
  repairRequests,
  judgeEnd: (db, claim) => judgeBatchEnd(list, db, claim),
  // A page says nothing beyond its rows: only the whole of a batch does.
  async writePages(_tx, _pages, load) {
    await load();
    return noneRefuted;
  },
  afterWalk: (tx, walk) => concludeBatch(list, tx, walk),
});

/** If it is replaced, unread numbers leave it, and read ones above the lowest verified one stay. */
async function noteTarget(
  db: Queryable,
  feed: Feed,
  scopes: readonly NumberedScope[],
  how: 'add' | 'replace',
): Promise<void> {
  const kept = sql`(
    select range_agg(int8range(lower(own), upper(range)))
    from etl.covered_batches, unnest((target_numbers - wanted) * read) as range, lateral (
      select verified * int8multirange(range) as own
    ) as verified
    where ${ofFeed(feed)} and not isempty(own)
  )`;
  await db.execute(sql`
    with next as (
      select wanted + coalesce(${how === 'add' ? sql`target_numbers` : kept}, '{}') as numbers
      from etl.feeds, (
        select range_agg(int8range(from_batch, to_batch, '[]')) as wanted
        from json_to_recordset(${JSON.stringify(scopes)}::json)
          as scope(from_batch bigint, to_batch bigint)
        -- A range is reversed if a command's end is below the configured begin.
        where from_batch <= coalesce(to_batch, from_batch)
      ) as target
      where ${ofFeed(feed)}
    )
    update etl.feeds set target_numbers = numbers
    from next
    where ${ofFeed(feed)} and target_numbers <> numbers
  `);
}

/** About how many requests the repairs take, at the pages that a batch has on average. */
async function repairRequests(
  db: Database,
  feed: Feed,
  { pageSize }: RepairOptions,
): Promise<RequestCount> {
  const likely = await execute(db).value(z.number)`
    select ceil(etl.width(range_agg(numbers)) * coalesce(
      (
        select avg(ceil(blocks_count::numeric / ${pageSize}::bigint)) from etl.batch_states
        where ${isOf(feed)} and blocks_count > 0
      ),
      ${(usualPages.least + usualPages.most) / 2}::bigint
    ))::float8
    from etl.batch_findings
    where ${ofFeed(feed)}
  `;
  return { likely: likely ?? 0, most: likely ?? 0 };
}

/**
 * The batches that the coverage finds open, as ranges, newest first. Those with broken blocks become unread: the next
 * walk would stop at a block that it knows. After a change by hand, a settled one is open again.
 */
const batchesToRead = (
  list: NumberedOperation,
  db: Database,
  feed: Feed,
): Promise<readonly NumberedScope[]> =>
  transact(db, async (tx) => {
    const { states } = tablesOf(list);
    await lockEnds(tx, { feed: feedName(feed) });
    await tx.execute(sql`
      delete from ${states} as t using etl.block_findings as broken
      where ${ofFeed(feed)} and (t.chain_id, t.batch_number) = (broken.chain_id, broken.batch_number)
    `);
    const ranges = await execute(tx).rows(() =>
      z.object({ from_batch: z.number(), to_batch: z.number() }),
    )`
      with wanted as materialized (
        select unnest(range_agg(numbers)) as range from etl.batch_findings where ${ofFeed(feed)}
      ), withdrawn as (
        update ${states}
        set state = 'open', is_verified = false, updated_at = ${sql.raw(changeTime)}
        from wanted
        where chain_id = ${feed.chain_id} and state = 'settled' and batch_number <@ range
      )
      select lower(range)::float8 as from_batch, (upper(range) - 1)::float8 as to_batch
      from wanted
      order by range desc
    `;
    await tx.execute(sql`select etl.recount_batches(${feedName(feed)})`);
    return ranges;
  });
