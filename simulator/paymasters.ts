import { evenRank, ranking } from './ranking.ts';

/** The paymasters, most operations first. */
export const { list: listPaymasters, seen: paymastersSeen } = ranking({
  name: 'paymaster',
  length: ({ chain }) => chain.paymasters ?? 0,
  drawRank: evenRank('paymaster'),
  drawTraits: () => ({}),
  print: ({ count }) => ({ total_ops: count }),
});
