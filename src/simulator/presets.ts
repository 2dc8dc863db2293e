import type { SimulatedChain } from './chain.ts';

/** Chains that are ready to serve. */
export const presets: { readonly demo: readonly SimulatedChain[] } = {
  /** 21,000 user operations, 4,000 blocks in 20 batches and 560 factories on two chains. */
  demo: [
    {
      id: 10,
      name: 'optimism',
      family: 'optimism',
      generation: 'v12',
      userOperations: 12_000,
      batches: { first: 1, count: 10, blocks: 200 },
      factories: 300,
    },
    {
      id: 42_220,
      name: 'celo',
      family: 'celo',
      generation: 'v11',
      userOperations: 9000,
      batches: { first: 1, count: 10, blocks: 200 },
      factories: 260,
    },
  ],
};
