import { type Database, execute } from './transaction.ts';
import { z } from 'zod';

/**
 * As SQL: `updated_at` of every row of schema `explorer` that the transaction writes. A subquery, so that a statement
 * calls it once. Another time could lie below a bound that readers have passed (decision 17).
 */
export const changeTime = '(select etl.change_time())';

/**
 * Moves the bound of `explorer.changes_until()`; `announced` also notifies listeners.
 * @returns the bound
 */
export const publishChanges = (
  db: Pick<Database, 'execute'>,
  how: 'announced' | 'in silence',
): Promise<string | null> =>
  execute(db).value(z.string)`select etl.publish_changes(${how === 'announced'})::text`;
