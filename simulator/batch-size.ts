/** How far sizes differ from the average, as parts of it; they cancel out over one period. */
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
