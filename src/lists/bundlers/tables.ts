import { rankedTables } from '../kind-tables.ts';

export const tables = rankedTables('bundlers', 'bundler_history', 'total_ops', ['total_bundles']);
export const { items: bundlers, history: bundlerHistory } = tables;
