import { bisector } from 'd3-array';
import { scaleUtc } from 'd3-scale';
import { utcFormat } from 'd3-time-format';
import type { Heights, RibbonFacts, TimedHeight } from './facts.ts';

/** A time below the bar. */
export interface Tick {
  /** In percent of the bar's width. */
  readonly place: number;
  readonly label: string;
}

/** About as many as have room on a wide screen; every other one is left out on a narrow one. */
const mostTicks = 8;
/** Labels nearer to an end would leave the bar; in percent. */
const margin = 3;

const byHeight = bisector<TimedHeight, number>(({ height }) => height).left;
const byTime = bisector<TimedHeight, number>(({ at }) => at).left;

/** Where a height is, in percent of the window. */
export const placeOf = (height: number, { from, to }: Heights): number =>
  (100 * (height - from)) / (to - from + 1);

/** Round times, where they are known: between two items that tell theirs. Pure. */
export function ticksOf({ window, points }: Pick<RibbonFacts, 'window' | 'points'>): Tick[] {
  const [first, last] = [points[0], points.at(-1)];
  if (first === undefined || last === undefined || last.at <= first.at) return [];
  const scale = scaleUtc().domain([first.at, last.at]);
  return scale.ticks(mostTicks).flatMap((time) => {
    const height = heightAt(points, time.getTime());
    if (height === null) return [];
    const place = placeOf(height, window);
    return place < margin || place > 100 - margin ? [] : [{ place, label: spellTick(time) }];
  });
}

const spellings = {
  second: utcFormat('%H:%M:%S'),
  minute: utcFormat('%H:%M'),
  day: utcFormat('%-d %b'),
  month: utcFormat('%b'),
  year: utcFormat('%Y'),
};

/** A round time by the largest unit that begins there. */
function spellTick(time: Date): string {
  if (time.getUTCSeconds() !== 0) return spellings.second(time);
  if (time.getUTCHours() !== 0 || time.getUTCMinutes() !== 0) return spellings.minute(time);
  if (time.getUTCDate() !== 1) return spellings.day(time);
  return time.getUTCMonth() === 0 ? spellings.year(time) : spellings.month(time);
}

function heightAt(points: readonly TimedHeight[], at: number): number | null {
  const index = byTime([...points], at);
  const [below, above] = [points[index - 1], points[index]];
  if (above?.at === at) return above.height;
  if (below === undefined || above === undefined) return null;
  return below.height + ((at - below.at) / (above.at - below.at)) * (above.height - below.height);
}

/** The times between which a range lies, as far as its neighbours tell them; about, where they are reckoned. */
export function timesOf(
  range: Heights,
  points: readonly TimedHeight[],
): { readonly from: number | null; readonly to: number | null } {
  return { from: timeAt(points, range.from), to: timeAt(points, range.to) };
}

function timeAt(points: readonly TimedHeight[], height: number): number | null {
  const index = byHeight([...points], height);
  const [below, above] = [points[index - 1], points[index]];
  if (above?.height === height) return above.at;
  if (below === undefined || above === undefined) return null;
  return (
    below.at + ((height - below.height) / (above.height - below.height)) * (above.at - below.at)
  );
}
