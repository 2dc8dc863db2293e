import { createHash } from 'node:crypto';
import type { SeededSize } from './size.ts';

/*
 * Hashes and times of the seeded rows, twice: as SQL, which writes millions, and as text, which an
 * explorer serves. Both must say the same.
 */

/** What hashes are of; with the chain and a number it tells one from all others. */
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

export const accountsOf = (count: number, rank: number) => (count - rank + 1) * 10;
