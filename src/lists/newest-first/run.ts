import { execute, type Queryable, type Transaction } from '../../db/transaction.ts';
import type { PlannedWalk, RunOf } from '../list.ts';
import type { NewestFirstOperation, NewestFirstWalk } from '../operation.ts';
import { z } from 'zod';

/** No operation is older: the first ERC-4337 entry point the service lists was deployed then. */
export const firstOperationAt = Date.UTC(2023, 2, 1);

/** A deeper poll for late arrivals: how far below the covered top, and how often. */
export interface ResweepRule {
  readonly depthMs: number;
  readonly everyMs: number;
}

/** `again`: the backfill lane reads all known history once more. */
export type NewestFirstScope = Pick<NewestFirstWalk, 'since' | 'max_pages' | 'again'> & {
  /** Of what is missing only these blocks, both included. */
  readonly from_block?: number;
  readonly to_block?: number;
  /** How far below the top of the coverage a live walk goes, in ms. */
  readonly overlap_ms?: number;
  /** Short ones belong to the live lane. */
  readonly resweep?: readonly ResweepRule[];
  /** Whether gaps are read now, whatever their interval: a person waits. */
  readonly at_once?: boolean;
};

export type NewestFirstRun = RunOf<NewestFirstScope>;

/** The user's bounds of a run, as they bound each of its walks. */
export function boundsOf({ scope: { since, max_pages } }: NewestFirstRun): NewestFirstWalk {
  return { ...(since !== undefined && { since }), ...(max_pages !== undefined && { max_pages }) };
}

export const isRange = ({ from_block, to_block }: NewestFirstScope): boolean =>
  from_block !== undefined || to_block !== undefined;

const begunWalkShape = () =>
  z.object({
    id: z.number(),
    state: z.string(),
    reason: z.string().nullable(),
    floor: z.number(),
    top: z.number().nullable(),
    bottom: z.number().nullable(),
    pages: z.number(),
    from_head: z.boolean(),
    is_again: z.boolean(),
    depth_ms: z.number().nullable(),
    /** The block of the synthetic cursor that it entered at; null: it entered at another cursor. */
    entry: z.number().nullable(),
    /** The walk whose remainder it shares, with others that entered below that one; null: none. */
    remainder_of: z.number().nullable(),
  });
export type BegunWalk = z.infer<ReturnType<typeof begunWalkShape>>;

/** The walks of a run, the oldest first. */
export const walksOf = (tx: Queryable, run: NewestFirstRun) =>
  execute(tx).rows(begunWalkShape)`
    select id::float8 as id, state, reason, coalesce(floor, 0)::float8 as floor, top::float8 as top,
           bottom::float8 as bottom, pages::float8 as pages, from_head,
           scope ? 'again' as is_again, depth_ms::float8 as depth_ms,
           (scope -> 'entry' ->> 'height')::float8 as entry, (scope ->> 'remainder_of')::float8 as remainder_of
    from etl.walks
    where run_id = ${run.id}
    order by id
  `;

/** What the next walk of a run is planned by. */
export interface Planning {
  readonly list: NewestFirstOperation;
  readonly tx: Transaction;
  readonly run: NewestFirstRun;
  /** Its walks so far, the oldest first. */
  readonly begun: readonly BegunWalk[];
  readonly at: Date;
}

/** Null: there is none of this sort. */
export type Planned = Promise<PlannedWalk<NewestFirstWalk> | null>;

export const isWalkRunning = ({ state }: BegunWalk) => state === 'running';
