import type { Draw, Random } from './random.ts';

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

/** Block time of a chain that rests. */
export const blockTimeMs = 2000;
const blocksPerDay = (24 * 60 * 60_000) / blockTimeMs;

/** Days that a chain in use is described by. */
export const storyDays = 90;

/** A swing of so many days: its slope is 1 at the peak, and -1 between two. */
const wave = (day: number, days: number, peak: number) =>
  (days / (2 * Math.PI)) * Math.sin((2 * Math.PI * (day - peak)) / days);

/** Days as people feel them; day 0 of 1970 was a Thursday, so day 6.5 is a Wednesday's noon. */
const felt = (day: number) => day + 0.55 * wave(day, 1, 15 / 24) + 0.3 * wave(day, 7, 6.5);

/**
 * The heights of operations that people send: most in the afternoon, least at weekends, and after
 * 90 days 2.6 times as many as at first.
 *
 * @param startsAtMs when the lowest height was mined, milliseconds since 1970
 * @param operations how many the first 90 days hold
 */
export function livedLadder(startsAtMs: number, operations: number, draw: Draw): Ladder {
  const start = startsAtMs / (blockTimeMs * blocksPerDay);
  /** How much was going on until a block, in blocks of the first day. */
  const flow = (place: number) => {
    const days = felt(start + place / blocksPerDay) - felt(start);
    return Math.floor((days + (0.8 * days * days) / storyDays) * blocksPerDay);
  };
  const perRung = Math.floor((flow(storyDays * blocksPerDay) * itemsPerRung) / operations);
  const even = evenLadder(0, perRung, (rung) => draw('user-operation-rung', rung));
  const placeOf = (value: number) => {
    // A block of a quiet hour has a tenth of the flow of a usual one.
    return 1 + lastWhere(10 * (value + blocksPerDay), (place) => flow(place) < value);
  };
  return {
    valueOf: (rung) => firstHeight + placeOf(even.valueOf(rung)),
    rungsBelow: (height) => even.rungsBelow(flow(height - firstHeight - 1) + 1),
  };
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
function lastWhere(count: number, holds: (index: number) => boolean): number {
  let [below, above] = [-1, count];
  while (above - below > 1) {
    const middle = Math.floor((below + above) / 2);
    if (holds(middle)) below = middle;
    else above = middle;
  }
  return below;
}

/**
 * Which batch numbers are in use, from `first` on: slots count them, from 0. Without these gaps, and
 * without so many of every hundred, evenly spread.
 */
export function planNumbering(first: number, gaps: readonly number[], gapsPercent: number) {
  const single = [...new Set(gaps)].filter((gap) => gap >= first).sort((a, b) => a - b);
  const used = 100 - gapsPercent;
  /** How many used numbers lie below a number, which must not lie below the first. */
  const slotsBefore = (number: number) => {
    const place = number - first - single.filter((gap) => gap < number).length;
    return Math.round((place * used) / 100);
  };
  /** The highest place with so many used ones below it is itself used. */
  const numberOf = (slot: number) => {
    const place = Math.ceil((100 * slot + 50) / used) - 1;
    return single.reduce((reached, gap) => (gap <= reached ? reached + 1 : reached), first + place);
  };
  /** Null for a number that is not used. */
  const slotOf = (number: number) => {
    if (number < first) return null;
    const slot = slotsBefore(number);
    return numberOf(slot) === number ? slot : null;
  };
  return { slotsBefore, numberOf, slotOf };
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
  const remainder = slots % deviations.length;
  return average * slots + deviations.slice(0, remainder).reduce((sum, part) => sum + part, 0);
}

/** The slot of the batch that holds the block at this place, counted from 0. */
export function slotAtPlace(average: number, place: number): number {
  const period = deviationsOf(average).length;
  let slot = Math.floor(place / (average * period)) * period;
  while (blocksBefore(average, slot + 1) <= place) slot += 1;
  return slot;
}
