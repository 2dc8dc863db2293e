import { createHash } from 'node:crypto';
import type { Pool } from 'pg';

/** A chain whose lists are seeded: what it is called, and how much of each list there is. */
export interface SeededChain {
  readonly id: number;
  readonly name: string;
  readonly operations: SeededList;
  /** Null: it has no Optimism batches. */
  readonly batches: SeededList | null;
  readonly factories: { readonly count: number; readonly rankings: number };
}

/** A list that was read back to its beginning once, up to `base`, and polled since. */
export interface SeededList {
  /** The newest item; they count from 1. */
  readonly top: number;
  readonly base: number;
  readonly polls: number;
}

export interface SeededSize {
  readonly chains: readonly SeededChain[];
  /** The moment that the newest item is of, Unix time in ms. */
  readonly nowMs: number;
  /** A block each so often, in ms; one has one operation. */
  readonly blockMs: number;
  /** A poll each so often, in ms. */
  readonly pollMs: number;
}

/** As a busy chain has them, in ms: 43,200 a day, and a poll every two minutes. */
const usualBlockMs = 2_000;
export const itemsPerPoll = 60;
export const pageItems = 50;
/** Blocks of a batch: two pages. */
export const blocksPerBatch = 100;
/** Batches that a poll meets: the blocks of a poll's interval. */
export const batchesPerPoll = itemsPerPoll / blocksPerBatch;
/** Polls between two rankings. */
export const pollsPerRanking = 60;

/**
 * What so many user operations have beside them. At 20 million: 3 million addresses, 2 million
 * blocks, 200,000 walks of 180,000 runs, most of them polls.
 *
 * @param blockMs longer ones make few operations a long history
 */
export function sizeOf(operations: number, nowMs: number, blockMs = usualBlockMs): SeededSize {
  const part = (share: number, least = 1) => Math.max(least, Math.round(operations * share));
  const list = (top: number, polls: number): SeededList => ({
    top,
    base: top - polls * itemsPerPoll,
    polls,
  });
  const batches = part(0.001, 3_000);
  const polls = Math.floor((batches / batchesPerPoll) * 0.6);
  const rankings = part(1 / 14_000, 3);
  return {
    nowMs: nowMs - (nowMs % blockMs),
    blockMs,
    pollMs: blockMs * itemsPerPoll,
    chains: [
      {
        id: 10,
        name: 'optimism',
        operations: list(part(0.75), part(0.0045)),
        batches: { top: batches, base: batches - Math.floor(polls * batchesPerPoll), polls },
        factories: { count: part(0.0001, 60), rankings },
      },
      {
        id: 8453,
        name: 'base',
        operations: list(part(0.25), part(0.002)),
        batches: null,
        factories: { count: part(0.0001, 60), rankings },
      },
    ],
  };
}

/** Operations for each address. */
const perAddress = 7;
export const addressesOf = ({ operations }: SeededChain) =>
  Math.max(1, Math.ceil(operations.top / perAddress));
export const blocksOf = ({ batches }: SeededChain) => (batches?.top ?? 0) * blocksPerBatch;

/** What is missing on purpose, so that gaps are sought: a poll, and a batch of the history. */
export const lostPoll = ({ polls }: SeededList) => Math.ceil(polls / 2);
export const lostBatch = ({ base }: SeededList) => Math.max(1, Math.ceil(base / 2));

/** The size of a database that is seeded already: the newest item tells of when it is. */
export async function sizeStored(
  pool: Pick<Pool, 'query'>,
  operations: number,
): Promise<SeededSize> {
  const { rows } = await pool.query<{ at: Date }>(
    `select timestamp as at from explorer.user_operations
     where chain_id = 10 order by block_number desc limit 1`,
  );
  const [newest] = rows;
  if (newest === undefined) throw new Error('nothing is seeded here');
  return sizeOf(operations, newest.at.getTime());
}

/*
 * Hashes and times of the seeded rows, twice: as SQL, which writes millions, and as text, which an
 * explorer serves. Both must say the same.
 */

/** What hashes are of; each kind of thing has its own. */
export type Thing = 'operation' | 'transaction' | 'address' | 'block' | 'factory';

export const hashSql = (thing: Thing, chain: number, number: string, digits = 64) =>
  `'0x' || left(encode(sha256(('${thing} ${chain} ' || (${number})::bigint)::bytea), 'hex'), ${digits})`;

export const hashText = (thing: Thing, chain: number, number: number, digits = 64) =>
  `0x${createHash('sha256').update(`${thing} ${chain} ${number}`).digest('hex').slice(0, digits)}`;

/** Digits of an address. */
export const short = 40;

/** A moment so long before the newest item, as SQL. */
export const beforeNow = ({ nowMs }: SeededSize, ms: string) =>
  `(timestamptz '${new Date(nowMs).toISOString()}' - (${ms}) * interval '1 millisecond')`;

/** The time of block `height` of a chain whose newest is `top`, as SQL. */
export const blockTime = (size: SeededSize, top: number, height: string) =>
  beforeNow(size, `(${top} - (${height})) * ${size.blockMs}::bigint`);
