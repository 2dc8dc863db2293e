import { sum } from 'd3-array';

/** The lanes, the lower one of a stack first. */
export const lanes = ['live', 'backfill'];
type Work = 'rows' | 'requests';

/** What was done during one bin of a window in which somebody worked. */
export interface ThroughputBin {
  readonly bin: number;
  /** So many of its minutes somebody worked. */
  readonly minutes: number;
  /** A lane that did nothing is not there. */
  readonly lanes: Readonly<Partial<Record<string, Readonly<Record<Work, number>>>>>;
  /** Requests that failed, by class. */
  readonly failures: Readonly<Record<string, number>>;
}

type Bins = readonly ThroughputBin[];

/** What a lane did in some bins together. */
export const workOf = (bins: Bins, lane: string, work: Work): number =>
  sum(bins, (bin) => bin.lanes[lane]?.[work] ?? 0);

/** A minute, of those in which somebody worked. */
export const perMinute = (bins: Bins, count: number): number =>
  count /
  Math.max(
    1,
    sum(bins, ({ minutes }) => minutes),
  );

/** So many classes have a colour; the rarer ones are one. */
const classesShown = 4;
const others = 'others';

/** The classes of failure that are told apart, by name: their colours stay while their numbers grow. */
export function classesOf(bins: Bins): string[] {
  const all = [...new Set(bins.flatMap(({ failures }) => Object.keys(failures)))];
  const commonest = all
    .toSorted((a, b) => timesOf(bins, b) - timesOf(bins, a) || (a < b ? -1 : 1))
    .slice(0, all.length > classesShown ? classesShown - 1 : classesShown)
    .toSorted();
  return all.length > classesShown ? [...commonest, others] : commonest;
}

/** How often requests failed in that way. */
const timesOf = (bins: Bins, failure: string): number =>
  sum(bins, ({ failures }) => failures[failure] ?? 0);

/** How often in a way that is not told apart. */
const otherTimes = (bins: Bins, classes: readonly string[]): number =>
  sum(bins, ({ failures }) => sum(Object.values(failures))) -
  sum(classes, (failure) => timesOf(bins, failure));

/** How often in each way that is told apart, and in the others. */
export const timesByClass = (bins: Bins, classes: readonly string[]): Map<string, number> =>
  new Map(
    classes.map((failure) => [
      failure,
      failure === others ? otherTimes(bins, classes) : timesOf(bins, failure),
    ]),
  );
