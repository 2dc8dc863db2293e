import { addressRanking, rankedTables } from '../define.ts';

const tables = rankedTables('bundlers', 'bundler_history', 'total_ops', ['total_bundles']);
export const { items } = tables;
export const { history } = tables;

/** Who sends bundles of user operations to the chain, by number of operations. */
export const bundlers = addressRanking({
  name: 'bundlers',
  tables,
  schedule: '0 0 * * *',
  offer: () => 'if-named',
  about: 'Bundlers with their numbers of bundles and user operations.',
});
