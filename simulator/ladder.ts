import type { Random } from './random.ts';

/** The lowest height of every chain, and of its user operations: as long as those of OP Mainnet. */
export const firstHeight = 105_000_000;

/** How many items share a rung, over and over: ties of 1 to 7, so order within a tie is exercised. */
const sizes = [1, 3, 1, 7, 2, 5, 1, 4] as const;
const starts = sizes.map((_, rung) => sizes.slice(0, rung).reduce((sum, size) => sum + size, 0));
const itemsPerRound = sizes.reduce((sum: number, size) => sum + size, 0);
const rungOfRest = sizes.flatMap((size, rung) => Array.from({ length: size }, () => rung));

/** Items on a rung, on average. */
export const itemsPerRung = itemsPerRound / sizes.length;

/** Sort values that rise with the ordinal; ordinal 0 is the lowest item of a list. */
export interface Ladder {
  /** The value that all items of a rung have; never falls from rung to rung. */
  readonly valueOf: (rung: number) => number;
  /** How many rungs have a value below this one. */
  readonly rungsBelow: (value: number) => number;
}

/** Rung t has a value in [first + t * step, first + (t + 1) * step). */
export function evenLadder(first: number, step: number, draw: (rung: number) => Random): Ladder {
  const valueOf = (rung: number) => first + rung * step + draw(rung).below(step);
  const rungsBelow = (value: number) => {
    const rung = Math.max(0, Math.floor((value - first) / step));
    return valueOf(rung) < value ? rung + 1 : rung;
  };
  return { valueOf, rungsBelow };
}

/** The rung that an ordinal stands on. */
export function rungOf(ordinal: number): number {
  const round = Math.floor(ordinal / itemsPerRound);
  return round * sizes.length + (rungOfRest[ordinal % itemsPerRound] ?? 0);
}

/** The lowest ordinal on a rung: how many items all rungs below it hold. */
export function startOf(rung: number): number {
  const round = Math.floor(rung / sizes.length);
  return round * itemsPerRound + (starts[rung % sizes.length] ?? 0);
}

/** Hexadecimal digits with 0x whose first byte is made to rise with the item's place on its rung. */
export function rankDigits(digits: string, ordinal: number): string {
  const rung = rungOf(ordinal);
  const width = Math.floor(256 / (sizes[rung % sizes.length] ?? 1));
  const byte =
    (ordinal - startOf(rung)) * width + (Number.parseInt(digits.slice(2, 4), 16) % width);
  return `0x${byte.toString(16).padStart(2, '0')}${digits.slice(4)}`;
}

/** The highest index below `count` for which something holds that holds up to there, or -1. */
export function lastWhere(count: number, holds: (index: number) => boolean): number {
  let [below, above] = [-1, count];
  while (above - below > 1) {
    const middle = Math.floor((below + above) / 2);
    if (holds(middle)) below = middle;
    else above = middle;
  }
  return below;
}
