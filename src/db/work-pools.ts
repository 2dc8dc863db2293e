import type { Pool } from 'pg';
import { createPool } from './pool.ts';
import type { DatabaseTimeouts } from './timeouts.ts';

/** Connections: a transaction for each slice's walkers, the watch, progress lines. */
export const poolConnections = 12;
/** What the database shows of our sessions. */
export const applicationName = 'explorer-etl';
/** Connections that only reserve request slots. */
const budgetConnections = 4;

/**
 * The connections that pages and slots go over. No statement is long enough for compiled code to pay.
 *
 * @param isPooled whether a pooler is in between
 */
export function openWorkPools(
  url: string,
  isPooled: boolean,
  dbTimeouts: DatabaseTimeouts,
): { readonly pool: Pool; readonly budgetPool: Pool } {
  const quick = {
    url,
    dbTimeouts,
    planned: 'labelled',
    ...(isPooled && { pooled: 'transactions' as const }),
  } as const;
  return {
    pool: createPool({
      ...quick,
      settings: { jit: 'off' },
      max: poolConnections,
      applicationName,
    }),
    budgetPool: createPool({
      ...quick,
      // A reserved slot that a crash forgets costs nothing, so its commit need not reach the disk.
      settings: { jit: 'off', synchronous_commit: 'off' },
      max: budgetConnections,
      applicationName: `${applicationName} budget`,
    }),
  };
}
