import { rankedTables } from '../kind-tables.ts';

export const { items: bundlers, history: bundlerHistory } = rankedTables(
  'bundlers',
  'bundler_history',
  {
    total: 'total_ops',
    counts: ['total_bundles'],
  },
);
