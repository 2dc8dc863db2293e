import { hasOptimismBatches } from '../../chains.ts';
import type { Guide } from '../operation.ts';

/** The list of Optimism batches as people meet it. */
export const guide: Guide = {
  items: 'batches',
  about: 'The list of Optimism batches: when and how each was posted to L1, newest first.',
  example: (chainId) =>
    hasOptimismBatches(chainId)
      ? `      # The history once: one page for every 50 batches. Then what is new.
      optimism-batches:
        schedule: '*/10 * * * *' # one page each time
        overlap: 1h # how far below the newest known one each poll reads, since counts still change
`
      : '',
  question: 'How is each batch posted to L1, and how many L2 blocks does it hold?',
  sql: `select chain_id, batch_data_container, count(*) as batches,
       round(avg(l2_end_block_number - l2_start_block_number + 1)) as blocks_a_batch,
       max(l1_timestamp) as newest
from explorer.optimism_batches
where l1_timestamp is not null
group by chain_id, batch_data_container
order by chain_id, batch_data_container`,
};
