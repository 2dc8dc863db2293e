import type { Random } from './random.ts';

/** The lowest height of every chain, and of its user operations: as long as those of OP Mainnet. */
export const firstHeight = 105_000_000;

/** How many items share a rung, over and over: ties of 1 to 7, so order within a tie is exercised. */
const sizes = [1, 3, 1, 7, 2, 5, 1, 4] as const;
const rungOfRest = sizes.flatMap((size, rung) => Array.from({ length: size }, () => rung));
const itemsPerRound = rungOfRest.length;

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
  return round * itemsPerRound + rungOfRest.indexOf(rung % sizes.length);
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

/** Which batch numbers are in use: all from `first` on but the gaps. */
export interface Numbering {
  readonly first: number;
  /** Numbers that are not used, ascending, once each. */
  readonly gaps: readonly number[];
  /** The places in a hundred numbers that are not used, ascending: each hundred has its own. */
  readonly gapsOf: (round: number) => readonly number[];
  readonly usedPerCycle: number;
}

/** Numbers with gaps of their own, so that those below a number are known at once. */
const cycle = 100;

/** The numbers from `first` on without these, and without `gapsPerCycle` of every hundred. */
export function planNumbering(
  first: number,
  gaps: readonly number[],
  gapsPerCycle: number,
  draw: (round: number) => Random,
): Numbering {
  return {
    first,
    gaps: [...new Set(gaps)].filter((gap) => gap >= first).sort((a, b) => a - b),
    usedPerCycle: cycle - gapsPerCycle,
    gapsOf(round) {
      if (gapsPerCycle === 0) return [];
      const random = draw(round);
      const rests = Array.from({ length: cycle }, (_, rest) => rest);
      return Array.from({ length: gapsPerCycle })
        .flatMap(() => rests.splice(random.below(rests.length), 1))
        .sort((left, right) => left - right);
    },
  };
}

/** How many used numbers lie below a number, which must not lie below the first. */
export function slotsBefore({ first, gaps, gapsOf, usedPerCycle }: Numbering, number: number) {
  const place = number - first - gaps.filter((gap) => gap < number).length;
  const [round, rest] = [Math.floor(place / cycle), place % cycle];
  return round * usedPerCycle + rest - gapsOf(round).filter((gap) => gap < rest).length;
}

/** The slot of a number, counted from 0 over the used numbers; null if it is not used. */
export function slotOf(numbering: Numbering, number: number): number | null {
  if (number < numbering.first) return null;
  const slot = slotsBefore(numbering, number);
  return numberOf(numbering, slot) === number ? slot : null;
}

/** The number of a slot. */
export function numberOf({ first, gaps, gapsOf, usedPerCycle }: Numbering, slot: number): number {
  const round = Math.floor(slot / usedPerCycle);
  const rest = skip(slot % usedPerCycle, gapsOf(round));
  return skip(first + round * cycle + rest, gaps);
}

/** The value when ascending gaps are passed over. */
function skip(value: number, gaps: readonly number[]): number {
  return gaps.reduce((reached, gap) => (gap <= reached ? reached + 1 : reached), value);
}

/** How far sizes of batches differ from the average; they cancel out over one period of five. */
function deviationsOf(average: number): readonly number[] {
  const large = Math.floor((average * 3) / 8);
  const small = Math.floor(average / 7);
  return [large, -small, 0, -large, small];
}

/** How many blocks the first `slots` batches hold together. */
export function blocksBefore(average: number, slots: number): number {
  const deviations = deviationsOf(average);
  const rest = slots % deviations.length;
  return average * slots + deviations.slice(0, rest).reduce((sum, part) => sum + part, 0);
}

/** The slot of the batch that holds the block at this place, counted from 0. */
export function slotAtPlace(average: number, place: number): number {
  const period = deviationsOf(average).length;
  let slot = Math.floor(place / (average * period)) * period;
  while (blocksBefore(average, slot + 1) <= place) slot += 1;
  return slot;
}
