import { Random, type Stream } from './random.ts';

/** How many items share a rung, over and over: ties of 1 to 7, so order within a tie is exercised. */
const sizes = [1, 3, 1, 7, 2, 5, 1, 4] as const;
const starts = sizes.map((_, rung) => sizes.slice(0, rung).reduce((sum, size) => sum + size, 0));
const itemsPerRound = sizes.reduce((sum: number, size) => sum + size, 0);
const rungOfRest = sizes.flatMap((size, rung) => Array.from({ length: size }, () => rung));

/** Items on a rung, on average. */
export const itemsPerRung = itemsPerRound / sizes.length;

/** Where an item stands: items of one rung share its value, and differ by place. */
export interface Standing {
  readonly value: number;
  readonly place: number;
  readonly size: number;
}

/** Sort values that rise with the ordinal (0 is the lowest item), computed and inverted in O(log). */
export interface Ladder {
  /** The value of a rung; rises with the rung. */
  readonly valueOf: (rung: number) => number;
  /** The only rung that can have a value; one below 0 or without items if there is none. */
  readonly rungAt: (value: number) => number;
}

/** Rung t has a value in [first + t * step, first + (t + 1) * step). */
export function evenLadder(first: number, step: number, stream: Stream): Ladder {
  return {
    valueOf: (rung) => first + rung * step + new Random(stream, rung).below(step),
    rungAt: (value) => Math.floor((value - first) / step),
  };
}

/** The standing of item `ordinal`. */
export function standingOf(ladder: Ladder, ordinal: number): Standing {
  const rung = rungOf(ordinal);
  const place = ordinal - startOf(rung);
  return { value: ladder.valueOf(rung), place, size: sizes[rung % sizes.length] ?? 1 };
}

/**
 * The highest ordinal whose (value, key) is not above the given one, or -1. Keys of one rung rise
 * with the place.
 */
export function seekOrdinal(
  ladder: Ladder,
  value: number,
  key: string,
  keyOf: (ordinal: number) => string,
): number {
  const rung = ladder.rungAt(value);
  if (rung < 0) return -1;
  const start = startOf(rung);
  const rungValue = ladder.valueOf(rung);
  if (rungValue > value) return start - 1;
  const end = startOf(rung + 1) - 1;
  if (rungValue < value) return end;
  let ordinal = end;
  while (ordinal >= start && keyOf(ordinal) > key) ordinal -= 1;
  return ordinal;
}

/** Hexadecimal digits with 0x whose first byte is made to rise with the place on the rung. */
export function rankDigits(digits: string, { place, size }: Standing): string {
  const width = Math.floor(256 / size);
  const byte = place * width + (Number.parseInt(digits.slice(2, 4), 16) % width);
  return `0x${byte.toString(16).padStart(2, '0')}${digits.slice(4)}`;
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
