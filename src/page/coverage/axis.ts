import { bisector } from 'd3-array';
import { scaleUtc } from 'd3-scale';
import { utcFormat } from 'd3-time-format';
import type { Heights, RibbonFacts, TimedHeight } from './facts.ts';

/** A time below the bar. */
export interface Tick {
  /** In percent of the bar's width. */
  readonly place: number;
  readonly label: string;
  /** Whether it has room on a narrow screen too. */
  readonly isMajor: boolean;
}

/** About as many as have room below a whole bar on a wide screen. */
const mostTicks = 9;
/** In percent of the bar: labels nearer to an end would leave it, and nearer to each other would touch. */
const margin = 3;
const apart = { wide: 6, narrow: 18 } as const;

const byHeight = bisector<TimedHeight, number>(({ height }) => height);
const byTime = bisector<TimedHeight, number>(({ at }) => at);

/** Where a height is, in percent of the window. */
export const placeOf = (height: number, { from, to }: Heights): number =>
  (100 * (height - from)) / (to - from + 1);

/** Round times, where they are known: between two items that tell theirs. Pure. */
export function ticksOf({ window, points }: Pick<RibbonFacts, 'window' | 'points'>): Tick[] {
  const [first, last] = [points[0], points.at(-1)];
  if (first === undefined || last === undefined || last.at <= first.at) return [];
  const part = (placeOf(last.height, window) - placeOf(first.height, window)) / 100;
  const scale = scaleUtc().domain([first.at, last.at]);
  const ticks: Tick[] = [];
  for (const time of scale.ticks(Math.max(2, Math.round(mostTicks * part)))) {
    const height = heightAt(points, time.getTime());
    if (height === null) continue;
    const place = placeOf(height, window);
    if (place < margin || place > 100 - margin) continue;
    if (place - (ticks.at(-1)?.place ?? -Infinity) < apart.wide) continue;
    const major = ticks.findLast(({ isMajor }) => isMajor)?.place ?? -Infinity;
    ticks.push({ place, label: spellTick(time), isMajor: place - major >= apart.narrow });
  }
  return ticks;
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
  const index = byTime.left([...points], at);
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
  const index = byHeight.left([...points], height);
  const [below, above] = [points[index - 1], points[index]];
  if (above?.height === height) return above.at;
  if (below === undefined || above === undefined) return null;
  return (
    below.at + ((height - below.height) / (above.height - below.height)) * (above.at - below.at)
  );
}
