import type { SQL } from 'drizzle-orm';

/** The feed that a ribbon is of, as its table tells it. */
export interface RibbonFeed {
  readonly feed: string;
  readonly chain_id: number;
  readonly operation: string;
}

/** Numbers of a list that are looked at: both ends belong to them. */
export interface RibbonWindow {
  readonly from: number;
  readonly to: number;
}

/** What the ribbon of a list is drawn from: how each of its numbers stands, a block or a batch. */
export interface ListRibbon {
  /** A statement for `state`, a `RibbonState`, and `ranges`, a multirange of the numbers that stand so. */
  states(feed: RibbonFeed, window: RibbonWindow): SQL;
  /**
   * A statement for the `low`est and the `high`est number that is known, and what lies `below`: `nothing`,
   * `unwanted`, or `unknown`, which nobody has seen.
   */
  extent(feed: RibbonFeed): SQL;
  /** A statement for the highest number at or below one whose time is stored: `height`, and `at` in ms. */
  timeBelow(feed: RibbonFeed, number: number): SQL;
  /** Which walks are near the numbers `low` to `high`, in an order: a condition of `etl.walks`. */
  readonly near: SQL;
  /** Whether one of them bears out how a part of the numbers stands. */
  readonly bears: SQL;
}
