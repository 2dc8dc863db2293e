import { rankedTables } from '../kind-tables.ts';

export const tables = rankedTables('paymasters', 'paymaster_history', 'total_ops');
export const { items: paymasters, history: paymasterHistory } = tables;
