import { addressRanking } from '../define.ts';
import { tables } from './tables.ts';

/** Who sends bundles of user operations to the chain, by number of operations. */
export const bundlers = addressRanking({
  name: 'bundlers',
  tables,
  schedule: '0 0 * * *',
  offer: () => 'if-named',
  about: 'Bundlers with their numbers of bundles and user operations.',
});
