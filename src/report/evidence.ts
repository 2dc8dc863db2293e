import { sql } from 'drizzle-orm';
import { byKind } from '../lists/by-kind.ts';

/**
 * Whether anything proves a feed, a row of `feeds`; as SQL. False where no kind is about it: absence of
 * evidence is open.
 */
export const isProved = sql`coalesce(${byKind(({ proof }) => proof.shows)}, false)`;

/** The finding of a feed that nothing proves, a row of `feeds`; as SQL. */
export const unproved = sql`jsonb_build_object(
  'kind', 'unproved', 'lacks', ${byKind(({ proof }) => sql`${proof.lacks}::text`)}
)`;
