/** The tables of schema `explorer` by their names, for programs that read them with drizzle-orm: `explorer-etl/schema`. */
export {
  addresses,
  addressImplementations,
  addressLabels,
  addressMetadataTags,
  addressWatchlistNames,
} from '../load/tables.ts';
export { items as bundlers, history as bundlerHistory } from './bundlers/index.ts';
export { bundlesTable as bundles } from './bundles/index.ts';
export { items as factories, history as factoryHistory } from './factories/index.ts';
export {
  blockArbitrum,
  blockReorgs,
  blockRewards,
  blocks,
  blockUncles,
  readBatches,
} from './optimism-batch-blocks/index.ts';
export {
  listedBatches,
  optimismBatchTransactions as optimismBatchL1Transactions,
} from './optimism-batches/index.ts';
export { items as paymasters, history as paymasterHistory } from './paymasters/index.ts';
export { chains } from './tables.ts';
export { userOperationsTable as userOperations } from './user-operations/index.ts';
