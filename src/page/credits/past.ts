import { binStart, placeIn, type TimeWindow } from '../../time-window.ts';
import type { Stretch } from '../charts/chart.ts';

/** How much of a day's credits was spent at a time, in bins from the begin of its window. */
interface SpentPoint {
  readonly place: number;
  readonly spent: number;
}

/** What is noted of today's credits. */
export interface CreditsPast {
  /** The day. */
  readonly window: TimeWindow;
  /** Each a stretch in which somebody worked, in their order. */
  readonly stretches: readonly (readonly SpentPoint[])[];
  /** What was spent and is noted nowhere. */
  readonly unnoted: number;
}

/** An hour of the day, and what was spent in it and up to its end. */
export interface SpentHour extends Stretch {
  readonly spent: number;
  readonly sum: number;
}

const hourMs = 3_600_000;

/** Every hour in which somebody worked. */
export function spentHours({ window, stretches }: CreditsPast): SpentHour[] {
  const points = stretches.flat();
  const spentAt = (time: number) => {
    const place = placeIn(window, time);
    return (points.findLast((point) => point.place <= place) ?? points[0])?.spent ?? 0;
  };
  return Array.from({ length: 24 }, (_, hour) => window.from + hour * hourMs)
    .map((from) => ({ from, to: from + hourMs }))
    .filter(({ from, to }) => stretches.some((stretch) => overlaps(window, stretch, { from, to })))
    .map(({ from, to }) => ({ from, to, spent: spentAt(to) - spentAt(from), sum: spentAt(to) }));
}

const overlaps = (
  window: TimeWindow,
  points: readonly SpentPoint[],
  { from, to }: Stretch,
): boolean =>
  (points[0]?.place ?? Infinity) < placeIn(window, to) &&
  (points.at(-1)?.place ?? -Infinity) > placeIn(window, from);

/** Where nobody worked between two stretches, and since the last. */
export function restsOf({ window, stretches }: CreditsPast, at: number): Stretch[] {
  return stretches.flatMap((points, index) => {
    const from = binStart(window, points.at(-1)?.place ?? 0);
    const next = stretches[index + 1]?.[0];
    const to = next === undefined ? at : binStart(window, next.place);
    return to - from > 1000 ? [{ from, to }] : [];
  });
}
