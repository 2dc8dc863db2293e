import { sql } from 'drizzle-orm';
import { byKind } from '../lists/by-kind.ts';

/**
 * Whether anything verifies a feed, a row of `feeds`; as SQL. False if this version does not know its kind:
 * without evidence a feed is open.
 */
export const isProved = sql`coalesce(${byKind(({ proof }) => proof.shows)}, false)`;
