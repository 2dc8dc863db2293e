/** How often it is looked and how patiently it is told, in ms. */
export interface Pace {
  /** From one look of any process to the next. */
  readonly lookMs: number;
  /** How long a verdict must have stood before it is told. */
  readonly holdMs: number;
  /** Between two notifications. */
  readonly restMs: number;
  /** From the first attempt that failed to the second; then twice as long each time, up to the longest. */
  readonly firstRetryMs: number;
  readonly longestRetryMs: number;
  /** How often one change is tried in all. */
  readonly mostAttempts: number;
}

/**
 * Looks are four a minute, and a verdict is told by the second one at the earliest: what lasts for a moment is no
 * news. The first retry is longer than an answer may take, so that two processes never try at once. Twelve
 * attempts are five hours.
 */
export const usualPace: Pace = {
  lookMs: 15_000,
  holdMs: 10_000,
  restMs: 60_000,
  firstRetryMs: 30_000,
  longestRetryMs: 3_600_000,
  mostAttempts: 12,
};
