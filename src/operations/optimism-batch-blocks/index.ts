import type { Operation } from '../operation.ts';
import { block, blockCursor } from './decode.ts';
import { guide } from './guide.ts';
import { judgeBatchEnd } from './judge-end.ts';
import { normaliseBlock } from './normalise.ts';
import { requestBlocks } from './request.ts';
import { concludeBatch } from './settle.ts';
import {
  blockArbitrum,
  blockReorgs,
  blockRewards,
  blocks,
  blockUncles,
  readBatches,
} from './tables.ts';

const parentKey = ['chain_id', 'block_height'];

/** The L2 blocks of one Optimism batch, height descending (spec 4.1). */
export const optimismBatchBlocks: Operation<typeof block> = {
  name: 'optimism-batch-blocks',
  kind: 'numbered',
  table: blocks,
  children: [
    { table: blockRewards, parentKey },
    { table: blockUncles, parentKey },
    { table: blockArbitrum, parentKey },
  ],
  tables: [blockArbitrum, blockRewards, blockUncles, blockReorgs, blocks, readBatches],
  addressColumns: ['miner_hash'],
  questionIndexes: ['explorer.blocks_hash', 'explorer.blocks_timestamp'],
  guide,
  defaults: { schedule: '*/10 * * * *', overlap: '0s', resweep: [] },
  isOffered: () => true,
  version: ['hash'],
  request: requestBlocks,
  cursor: blockCursor,
  item: block,
  normalise: normaliseBlock,
  order: {
    fields: { height: ['height'], time: ['timestamp'], key: ['hash'] },
    columns: { height: 'height', time: 'timestamp', key: 'hash' },
    unit: 'blocks',
    position: () => null,
    names: 'above',
    cursorAt: ({ height }) => ({ block_number: height + 1 }),
    isProof: false,
  },
  decidesMembership: true,
  afterWalk: concludeBatch,
  judgeEnd: judgeBatchEnd,
};
