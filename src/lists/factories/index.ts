import { addressRanking, rankedTables } from '../define.ts';

const tables = rankedTables('factories', 'factory_history', 'total_accounts');
export const { items } = tables;
export const { history } = tables;

/** The wallet factories by number of accounts. */
export const factories = addressRanking({
  name: 'factories',
  tables,
  schedule: '0 */6 * * *',
  offer: () => 'usual',
  about: 'Wallet factories with their numbers of accounts.',
});
