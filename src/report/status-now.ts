import type { Pool } from 'pg';
import { drizzle } from 'drizzle-orm/node-postgres';
import { describeDatabaseError, isAway } from '../db/failure.ts';
import { isPrepared } from '../db/prepared.ts';
import { readStandby } from '../db/standby.ts';
import type { StatusDocument } from '../documents/status.ts';
import { awayStatus, describeStatus, emptyStatus, unreadableStatus } from './status-document.ts';

/**
 * How all is in a database, whatever it is: a standby, or one without tables yet.
 *
 * @throws what Postgres throws
 */
export async function statusNow(pool: Pool, pageSize: number): Promise<StatusDocument> {
  const standby = await readStandby(pool);
  // Looking changes nothing, so it makes no tables either.
  if (!(await isPrepared(pool))) return emptyStatus(new Date(), standby);
  return describeStatus(drizzle(pool), { pageSize, standby });
}

/**
 * The same for whoever goes on looking: where the database does not answer, that is how all is. One that
 * refuses or takes too long is not away: others may work with it.
 */
export const statusOrOutage = (pool: Pool, pageSize: number): Promise<StatusDocument> =>
  statusNow(pool, pageSize).catch((error: unknown) => {
    const described = isAway(error) ? awayStatus : unreadableStatus;
    return described(new Date(), describeDatabaseError(error));
  });
