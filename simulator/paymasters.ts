import { operationsRank, ranking } from './ranking.ts';

/** Of all operations, those that somebody else pays for. */
const sponsored = 0.6;

/** The paymasters, most operations first. */
export const { list: listPaymasters, seen: paymastersSeen } = ranking({
  name: 'paymaster',
  length: ({ chain }) => chain.paymasters ?? 0,
  drawRank: operationsRank('paymaster', sponsored),
  drawTraits: () => ({}),
  print: ({ count }) => ({ total_ops: count }),
});
