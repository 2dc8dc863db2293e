import { binStart, type TimeWindow } from '../../time-window.ts';
import type { Stretch } from './chart.ts';

/** Bins that are told together. */
export interface Step<Bin> extends Stretch {
  readonly bins: readonly Bin[];
}

/** The bins of a window by whole hours or days (UTC), in their order; a step in which nothing was noted has none. */
export function stepsOf<Bin extends { readonly bin: number }>(
  window: TimeWindow,
  stepSeconds: number,
  bins: readonly Bin[],
): Step<Bin>[] {
  const stepMs = 1000 * stepSeconds;
  const stepAt = (bin: number) => Math.floor(binStart(window, bin) / stepMs);
  const byStep = Map.groupBy(bins, ({ bin }) => stepAt(bin));
  const [first, last] = [stepAt(0), stepAt(window.bins - 1)];
  return Array.from({ length: last - first + 1 }, (_, index) => {
    const step = first + index;
    return { from: step * stepMs, to: (step + 1) * stepMs, bins: byStep.get(step) ?? [] };
  });
}
