import { addressRanking, rankedTables } from '../define.ts';

const tables = rankedTables('paymasters', 'paymaster_history', 'total_ops');
export const { items } = tables;
export const { history } = tables;

/** Who pays for user operations of others, by number of operations. */
export const paymasters = addressRanking({
  name: 'paymasters',
  tables,
  schedule: '0 0 * * *',
  offer: () => 'if-named',
  about: 'Paymasters with the numbers of user operations that they paid for.',
});
