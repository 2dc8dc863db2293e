import type { SQL } from 'drizzle-orm';

/**
 * What is drawn of a list whose items have positions: blocks, or numbers of batches. All is SQL, of what is
 * bounded however long the history is.
 */
export interface ListRibbon {
  /**
   * A statement for `feed`, `begins`, `ends` (exclusive) and a multirange for each state, of all feeds of the kind:
   * `verified`; `gap`: wanted, and missing or unconfirmed; `quarantined`: verified but for an item in quarantine;
   * `reading`: a walk is under way there; `unverified`: read, and verified by what is to come; `unknown`: below all
   * that was ever read, and the list may end anywhere there; `out_of_range`: not wanted. No two of a feed's
   * overlap, and together they are all that lies below `ends`.
   */
  readonly parts: SQL;
  /**
   * A statement for `feed`, `from`, `to`, `height` and `timestamp` of stored items near the heights of rows
   * `asked` (feed, height, from, to).
   */
  readonly times: SQL;
}
