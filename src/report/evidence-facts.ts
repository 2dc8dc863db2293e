import { sql } from 'drizzle-orm';
import type { Database } from '../db/transaction.ts';
import type { FailureClass } from '../failure.ts';
import { isProved } from './evidence.ts';

/** What is proved of a feed, and what is known to be open of it, as far as it is known without a `verify`. */
export interface FeedEvidence {
  readonly feed: string;
  readonly chain_name: string;
  /** The class of what keeps the feed from going on; null: nothing does, or it is of no class. */
  readonly failure: FailureClass | null;
  /** Whether anything proves it. */
  readonly is_proved: boolean;
  /** Items of it stand in quarantine: what they can stand in is complete nowhere. */
  readonly is_quarantined: boolean;
  /** So many blocks or batches; 0 where they can stand anywhere. */
  readonly quarantined_places: number;
  /** Of a list by number; null: of another kind, or no number is known yet. */
  readonly numbers: NumberedEvidence | null;
}

/** How the numbers that were asked for stand, and exist by now. */
export interface NumberedEvidence {
  readonly asked: number;
  readonly proved: number;
  readonly unread: number;
  /** Read, and the newest: they wait for what is to come. */
  readonly waiting: number;
  /** Read, and not proved, though nothing is to come that would prove them. */
  readonly doubtful: number;
  /** Above the newest batch, in the list of batches, and their blocks are missing. */
  readonly without_blocks: number;
  /** They hold an item in quarantine. */
  readonly quarantined: number;
  /** Nothing above a last one was asked for. */
  readonly is_bounded: boolean;
}

/** More batches with blocks than these never wait for what is to come alone (`etl.batch_state_findings`). */
const mostInHead = 3;

/** As SQL: what is known of the numbers of each feed, and of those of them that wait. */
const ofNumbers = sql`
    number as (
      select feed, sum(upper(numbers) - lower(numbers)) as asked, sum(read) as read,
             sum(unproved) as unproved, sum(quarantined) as quarantined,
             coalesce(sum(upper(numbers) - lower(numbers)) filter (where is_listed), 0)
               as without_blocks
      from (
        select feed, numbers, read, unproved, quarantined, false as is_listed
        from etl.asked_batches as asked
        left join etl.quarantined as held using (feed), lateral (
          select count(*) as read,
                 count(*) filter (where not is_proved and (batch_number <@ places) is not true) as unproved,
                 count(*) filter (where batch_number <@ places) as quarantined
          from explorer.read_batches as batch
          where batch.chain_id = asked.chain_id
            and batch_number >= lower(numbers) and batch_number < upper(numbers)
        ) as range
        union all
        select feed, int8range(batch_number, batch_number + 1), 0, 0, 0, true
        from etl.listed_without_blocks
        join etl.feeds using (feed)
        -- Those that no poll requested yet are only new. Below the newest batch they are counted as read.
        join explorer.read_batches as batch
          on batch.chain_id = feeds.chain_id
          and batch.batch_number >= greatest(lower(range), frontier + 1)
          and batch.batch_number < upper(range)
        where blocks_count = 0
      ) as part
      group by feed
    ), head as (
      select heads.feed,
             count(*) filter (where (heads.batch_number <@ places) is not true) as numbers,
             count(*) filter (where blocks_count > 0) as batches
      from etl.batch_heads as heads
      join etl.feeds using (feed)
      join explorer.read_batches as batch
        on batch.chain_id = feeds.chain_id and batch.batch_number = heads.batch_number
      left join etl.quarantined as held on held.feed = heads.feed
      group by heads.feed
    )
`;

/** The evidence of every feed. */
export async function feedEvidence(db: Database): Promise<FeedEvidence[]> {
  const { rows } = await db.execute<{ evidence: FeedEvidence }>(sql`
    with shown as (
      select feed, ${isProved} as is_proved from etl.feeds
    ), ${ofNumbers}
    select json_build_object(
      'feed', feeds.feed,
      'chain_name', coalesce(chains.name, 'chain-' || feeds.chain_id),
      'failure', feeds.failure,
      'is_proved', is_proved,
      'is_quarantined', held.feed is not null,
      'quarantined_places', coalesce(
        (select sum(upper(range) - lower(range)) from unnest(places) as range), 0
      ),
      'numbers', case when number.feed is not null then (
        select json_build_object(
          'asked', number.asked,
          'proved', number.read - number.unproved - number.quarantined,
          'unread', number.asked - without_blocks - number.read,
          'waiting', waiting,
          'doubtful', number.unproved - waiting,
          'without_blocks', without_blocks,
          'quarantined', number.quarantined,
          'is_bounded', not upper_inf(feeds.asked)
        )
        from (
          select case when head.batches <= ${mostInHead} then head.numbers else 0 end as waiting
        ) as own
      ) end
    ) as evidence
    from etl.feeds
    -- A row that somebody deleted hides no feed.
    left join explorer.chains using (chain_id)
    join shown using (feed)
    left join etl.quarantined as held using (feed)
    left join number using (feed)
    left join head using (feed)
    order by feeds.chain_id, feeds.operation
  `);
  return rows.map(({ evidence }) => evidence);
}
