import type { World } from './chain.ts';
import { instantOf } from './instant.ts';
import type { Random } from './random.ts';

/** What an Arbitrum chain says of a block. */
export interface ArbitrumFacts {
  readonly status: string;
  readonly batchNumber: number | null;
  readonly batchDataContainer: string | null;
  readonly delayedMessages: number | null;
  readonly l1BlockNumber: number | null;
  readonly sendCount: number | null;
  readonly sendRoot: string | null;
  readonly commitment: L1Transaction;
  readonly confirmation: L1Transaction;
}

export interface L1Transaction {
  readonly hash: string | null;
  readonly status: string | null;
  readonly timestampMs: number | null;
}

const statuses = [
  'Confirmed on base',
  'Sent to base',
  'Sealed on rollup',
  'Processed on rollup',
] as const;

const containers = [
  'in_blob4844',
  'in_calldata',
  'in_celestia',
  'in_anytrust',
  'in_eigenda',
] as const;

/** Draws the facts of the block at a height from its own random sequence. */
export function drawArbitrum(world: World, height: number, random: Random): ArbitrumFacts {
  return {
    status: random.pick(statuses),
    batchNumber: random.oneIn(7) ? null : 1 + random.below(900_000),
    batchDataContainer: random.oneIn(7) ? null : random.pick(containers),
    delayedMessages: random.oneIn(7) ? null : random.below(5),
    l1BlockNumber: random.oneIn(7) ? null : 20_000_000 + random.below(1_000_000),
    sendCount: random.oneIn(7) ? null : random.below(200_000),
    sendRoot: random.oneIn(7) ? null : random.hex(8),
    commitment: drawTransaction(world, height, random),
    confirmation: drawTransaction(world, height, random),
  };
}

function drawTransaction(world: World, height: number, random: Random): L1Transaction {
  if (random.oneIn(4)) return { hash: null, status: null, timestampMs: null };
  return {
    hash: random.oneIn(6) ? null : random.hex(8),
    status: random.oneIn(6) ? null : random.pick(['unfinalized', 'finalized']),
    timestampMs: random.oneIn(6) ? null : instantOf(world, height + 300, random.below(1000)),
  };
}
