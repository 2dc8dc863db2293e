import type { Operation } from '../operation.ts';
import { block, blockCursor } from './decode.ts';
import { judgeBatchEnd } from './judge-end.ts';
import { normaliseBlock } from './normalise.ts';
import { requestBlocks } from './request.ts';
import { concludeBatch } from './settle.ts';
import { blockArbitrum, blockRewards, blocks, blockUncles } from './tables.ts';

const parentKey = ['chain_id', 'block_height'];

/** The L2 blocks of one Optimism batch, height descending (spec 4.1). */
export const optimismBatchBlocks: Operation<typeof block> = {
  name: 'optimism-batch-blocks',
  kind: 'batch',
  table: blocks,
  children: [
    { table: blockRewards, parentKey },
    { table: blockUncles, parentKey },
    { table: blockArbitrum, parentKey },
  ],
  version: ['hash'],
  request: requestBlocks,
  cursor: blockCursor,
  item: block,
  normalise: normaliseBlock,
  order: { height: 'height', time: 'timestamp', key: 'hash', position: () => null },
  afterWalk: concludeBatch,
  judgeEnd: judgeBatchEnd,
};
