import { placeIn, type TimeWindow } from '../time-window.ts';
import type { ThroughputBin } from './throughput.ts';

/** How much of a day's credits was spent at a time. */
export interface SpentPoint {
  /** In bins from the window's begin: 0.5 is the middle of the first. */
  readonly place: number;
  readonly spent: number;
}

/** What is noted of today's credits. */
export interface SpentHistory {
  /** Each a stretch in which somebody is known to have worked, in their order. */
  readonly stretches: readonly (readonly SpentPoint[])[];
  /** What was spent and is noted nowhere: by a process that was killed in its minute, or by another program. */
  readonly unnoted: number;
}

/**
 * How the credits of a day were spent. It ends with what the budget says now, and goes back from there by what
 * lanes noted: the budget misses no request, and a process that is killed loses a minute of its notes. Pure.
 *
 * @param window the day
 * @param noted the bins in which somebody worked
 * @param spent today's, by the budget
 * @param at in ms
 */
export function spentHistory(
  window: TimeWindow,
  noted: readonly ThroughputBin[],
  { spent, at }: { readonly spent: number; readonly at: number },
): SpentHistory {
  const now = placeIn(window, at);
  const past = noted.filter(({ bin }) => bin < now);
  const sum = past.reduce((total, bin) => total + creditsOf(bin), 0);
  const stretches: SpentPoint[][] = [];
  let before = spent - sum;
  let end: number | null = null;
  for (const bin of past) {
    if (end !== bin.bin) stretches.push([{ place: bin.bin, spent: Math.max(0, before) }]);
    before += creditsOf(bin);
    end = bin.bin + 1;
    stretches.at(-1)?.push({ place: Math.min(end, now), spent: Math.max(0, before) });
  }
  return { stretches, unnoted: Math.max(0, spent - sum) };
}

const creditsOf = ({ lanes }: ThroughputBin): number =>
  Object.values(lanes).reduce((sum, { credits }) => sum + credits, 0);
