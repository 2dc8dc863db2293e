import type { RunOf } from '../list.ts';
import type { NewestFirstWalk } from '../operation.ts';

export type RunResweep = {
  readonly depth_ms: number;
  readonly every_ms: number;
};

/** What a run of a newest-first list covers. */
export type NewestFirstScope = {
  readonly since?: string;
  readonly max_pages?: number;
  /** Of what is missing only these blocks, both included. */
  readonly from_block?: number;
  readonly to_block?: number;
  /** How far below the top of what is covered a live walk goes, in ms. */
  readonly overlap_ms?: number;
  /** Deeper polls for late arrivals: how deep, and how often; short ones are the live lane's. */
  readonly resweep?: readonly RunResweep[];
  /** Whether the backfill lane reads all known history once more. */
  readonly again?: boolean;
  /** Whether gaps are read again now, whatever their interval: a person waits. */
  readonly at_once?: boolean;
};

export type NewestFirstRun = RunOf<NewestFirstScope>;

/** The user's bounds of a run, as they bound each of its walks. */
export function boundsOf({ scope: { since, max_pages } }: NewestFirstRun): NewestFirstWalk {
  return { ...(since !== undefined && { since }), ...(max_pages !== undefined && { max_pages }) };
}

/** Whether a run is about some blocks only. */
export const isRange = ({ from_block, to_block }: NewestFirstScope): boolean =>
  from_block !== undefined || to_block !== undefined;
