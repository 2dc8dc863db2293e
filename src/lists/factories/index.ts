import { addressRanking } from '../define.ts';
import { tables } from './tables.ts';

/** The wallet factories by number of accounts. */
export const factories = addressRanking({
  name: 'factories',
  tables,
  schedule: '0 */6 * * *',
  offer: () => 'usual',
  about: 'Wallet factories with their numbers of accounts.',
});
