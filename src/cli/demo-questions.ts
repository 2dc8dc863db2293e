/** Three questions that the tables answer, for the end of `demo`. */
export const demoQuestions: readonly { readonly question: string; readonly sql: string }[] = [
  {
    question: 'How many user operations failed, by entry point version and chain?',
    sql: `select name as chain, entry_point_version,
       count(*) as operations,
       round(100.0 * count(*) filter (where not status) / count(*), 1) as failed_percent
from explorer.user_operations
join explorer.chains using (chain_id)
group by name, entry_point_version
order by name, entry_point_version`,
  },
  {
    question: 'Which factories lead, and what is known of their contracts?',
    sql: `select factories.chain_id, rank, total_accounts, address_hash, name, is_verified
from explorer.factories
join explorer.addresses on (addresses.chain_id, hash) = (factories.chain_id, address_hash)
where rank <= 3
order by factories.chain_id, rank`,
  },
  {
    question: 'Are the batches whole: contiguous heights, each block linked to the one below?',
    sql: `select chain_id, count(*) as batches, sum(blocks_count) as blocks,
       min(first_height) as first_height, max(last_height) as last_height,
       bool_and(is_contiguous and is_linked) as whole
from explorer.optimism_batches
group by chain_id
order by chain_id`,
  },
];
