import type { SQL } from 'drizzle-orm';

/**
 * What is known of a part of a list. `proved`: nothing is missing. `gap`: wanted, and missing or doubtful.
 * `held`: proved but for an item that stands in quarantine. `flight`: a walk is under way there. `waiting`:
 * read, and proved by what is to come. `unknown`: below all that was ever read, where nobody knows whether the
 * list goes on. `unwanted`: not asked for.
 */
export type PartState = 'proved' | 'gap' | 'held' | 'flight' | 'waiting' | 'unknown' | 'unwanted';

/** How a list whose items have heights is drawn. All is SQL, of what is bounded however long the history is. */
export interface ListRibbon {
  /**
   * A statement for `feed`, `chain_id`, `begins`, `ends` and a multirange for each `PartState`, of all feeds of the
   * kind. No two of a feed's overlap, and all of them together are what lies below `ends`.
   */
  readonly parts: SQL;
  /**
   * A statement for `feed`, `from`, `to`, `height` and `timestamp` of stored items near the heights of rows
   * `asked` (feed, height, from, to).
   */
  readonly times: SQL;
  /** A statement for `id`, `lane`, `started_at` and `is_there` of walks that a row `asked` may rest on. */
  readonly walks: SQL;
}

/** So many walks are looked at for a part, whatever the history is. */
export const mostWitnesses = 50;
