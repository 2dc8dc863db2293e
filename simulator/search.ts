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
