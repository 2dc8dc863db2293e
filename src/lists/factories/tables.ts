import { rankedTables } from '../kind-tables.ts';

export const { items: factories, history: factoryHistory } = rankedTables(
  'factories',
  'factory_history',
  {
    total: 'total_accounts',
  },
);
