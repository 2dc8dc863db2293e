import type { RunOf } from '../list.ts';

/** What a run of numbered lists covers; each number is walked as a walk of its own. */
export type NumberedScope = {
  readonly from_batch?: number;
  readonly to_batch?: number;
  /** How many of the newest numbers are read again by each live run, and left to it by others. */
  readonly reread?: number;
  /** Whether what is not verified is read again now, whatever its interval: a person waits. */
  readonly at_once?: boolean;
};

export type NumberedRun = RunOf<NumberedScope>;
