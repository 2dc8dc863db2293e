import { rankedTables } from '../kind-tables.ts';

export const { items: paymasters, history: paymasterHistory } = rankedTables(
  'paymasters',
  'paymaster_history',
  {
    total: 'total_ops',
  },
);
