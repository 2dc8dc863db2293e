import { sql, type SQL } from 'drizzle-orm';
import type { OperationName } from '../operations/operation.ts';

/** What shows of a feed, a row of `feeds`, that what it lists was read; as SQL. */
interface EvidenceRule {
  readonly shows: SQL;
  /** What a feed lacks of which that is not so. */
  readonly lacks: string;
}

/**
 * A list that is newest first is proved by pages that went past blocks, down to `since` or the end, or
 * by an end at which it was empty, or held one item, which nothing else bears out.
 */
const coverage = sql`exists (
  select from etl.feed_coverage
  where feed_coverage.feed = feeds.feed and (covered <> '{}' or reached_since is not null)
) or exists (
  select from etl.walks
  where walks.chain_id = feeds.chain_id
    and walks.operation = feeds.operation
    and walks.state = 'finished'
    and walks.reason is null
    and walks.items <= 1
    and walks.cuts = 0
)`;

/**
 * Batches are proved by the chain: one at least. Where only numbers up to a last one were asked for, it
 * shows as much that all of them were read: a few batches have no neighbours that would prove them.
 */
const batches = sql`exists (
  select from explorer.optimism_batches as batch
  where batch.chain_id = feeds.chain_id and is_proved and batch_number <@ asked
) or (
  not upper_inf(asked) and asked <> '{}'
  and (select sum(upper(range) - lower(range)) from unnest(asked) as range) = (
    select count(*) from explorer.optimism_batches as batch
    where batch.chain_id = feeds.chain_id and batch_number <@ asked
  )
)`;

const census = sql`exists (
  select from etl.censuses where censuses.chain_id = feeds.chain_id
)`;

const rules: Readonly<Record<OperationName, EvidenceRule>> = {
  'user-operations': { shows: coverage, lacks: 'nothing is covered yet' },
  'optimism-batch-blocks': { shows: batches, lacks: 'no batch is proved yet' },
  factories: { shows: census, lacks: 'no census was finished yet' },
};

const byOperation = (part: (rule: EvidenceRule) => SQL) =>
  sql.join(
    Object.entries(rules).map(([operation, rule]) => sql`when ${operation} then ${part(rule)}`),
    sql` `,
  );

/**
 * Whether anything proves a feed, a row of `feeds`; as SQL. False where no rule is about it: absence of
 * evidence is open, so what is forgotten here shows.
 */
export const isProved = sql`coalesce(
  case feeds.operation ${byOperation(({ shows }) => shows)} end,
  false
)`;

/** What is to be said of a feed that nothing proves, a row of `feeds`; as SQL. */
export const unproved = sql`'nothing proves it' || coalesce(
  ': ' || case feeds.operation ${byOperation(({ lacks }) => sql`${lacks}::text`)} end,
  ''
)`;
