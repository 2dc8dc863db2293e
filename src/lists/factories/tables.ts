import { rankedTables } from '../kind-tables.ts';

export const tables = rankedTables('factories', 'factory_history', 'total_accounts');
export const { items: factories, history: factoryHistory } = tables;
