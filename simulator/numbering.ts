import type { Random } from './random.ts';

/** Which batch numbers are in use: all from `first` on but the holes. */
export interface Numbering {
  readonly first: number;
  /** Numbers that are not used, ascending, once each. */
  readonly holes: readonly number[];
  /** How many more of every hundred numbers are not used; below 100. */
  readonly holesPerCycle: number;
  readonly draw: (round: number) => Random;
}

/** Each hundred numbers get holes of their own, so that those below a number are known at once. */
const cycle = 100;

/** How many used numbers lie below a number, which must not lie below the first. */
export function slotsBefore(numbering: Numbering, number: number): number {
  const place = placeOf(numbering, number);
  const [round, rest] = [Math.floor(place / cycle), place % cycle];
  const below = holesOfCycle(numbering, round).filter((hole) => hole < rest).length;
  return round * (cycle - numbering.holesPerCycle) + rest - below;
}

/** The slot of a number, counted from 0 over the used numbers; null if it is not used. */
export function slotOf(numbering: Numbering, number: number): number | null {
  if (number < numbering.first || numbering.holes.includes(number)) return null;
  const place = placeOf(numbering, number);
  const holes = holesOfCycle(numbering, Math.floor(place / cycle));
  return holes.includes(place % cycle) ? null : slotsBefore(numbering, number);
}

/** The number of a slot. */
export function numberOf(numbering: Numbering, slot: number): number {
  const used = cycle - numbering.holesPerCycle;
  const round = Math.floor(slot / used);
  const rest = skip(slot % used, holesOfCycle(numbering, round));
  return skip(numbering.first + round * cycle + rest, numbering.holes);
}

/** The number's place among those that the list of holes leaves. */
function placeOf({ first, holes }: Numbering, number: number): number {
  return number - first - holes.filter((hole) => hole < number).length;
}

/** The value when ascending holes are passed over. */
function skip(value: number, holes: readonly number[]): number {
  return holes.reduce((reached, hole) => (hole <= reached ? reached + 1 : reached), value);
}

function holesOfCycle({ holesPerCycle, draw }: Numbering, round: number): number[] {
  const random = draw(round);
  const rests = Array.from({ length: holesPerCycle === 0 ? 0 : cycle }, (_, rest) => rest);
  const holes = Array.from({ length: holesPerCycle }, () =>
    rests.splice(random.below(rests.length), 1),
  );
  return holes.flat().sort((left, right) => left - right);
}

/** How far sizes of batches differ from the average; they cancel out over one period. */
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
