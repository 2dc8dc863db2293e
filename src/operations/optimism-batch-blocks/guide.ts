import { lacksOptimismBatches } from '../../chains.ts';
import type { Guide } from '../operation.ts';

const example = `      # Each batch costs 3 to 29 pages; each poll 1 request, or 3 where a batch is new.
      optimism-batch-blocks:
        schedule: '*/10 * * * *'
        from_batch: 1 # the first one to read
        # to_batch: 100 # the last one; without it the newest is searched and followed
        reread: 2 # newest batches that are read again until proved, 1 page each where nothing is new
        parallel: 4 # batches read at once, within the same rate limit
`;

const absent = `      # optimism-batch-blocks: this chain has no Optimism batches
`;

/** Optimism batches as people meet them. */
export const guide: Guide = {
  items: 'blocks',
  about: 'Blocks of each Optimism batch.',
  example: (chainId) => (lacksOptimismBatches(chainId) ? absent : example),
  question: 'Are the batches whole: contiguous heights, each block linked to the one below?',
  sql: `select chain_id, count(*) as batches, sum(blocks_count) as blocks,
       min(first_height) as first_height, max(last_height) as last_height,
       bool_and(is_contiguous and is_linked) as whole
from explorer.optimism_batches
group by chain_id
order by chain_id`,
};
