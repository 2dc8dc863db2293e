import { Random, type Stream } from './random.ts';

/** Serves a part of a list in wrong order, at a time or always. Cursors stay in order. */
export interface Disorder {
  /** How much of the list is in wrong order. */
  readonly percent: number;
  /** Simulated milliseconds; from the start if absent. */
  readonly fromMs?: number;
  /** Simulated milliseconds, exclusive; for good if absent. */
  readonly untilMs?: number;
}

/** Items of which some trade places: a power of two, and more than two of the largest pages. */
const windowSize = 128;

/**
 * The ordinal of the item that stands in another's place: the same pair trades both ways, so that a
 * walk to the end still meets every item once.
 */
export function partnerOf(
  disorder: Disorder | undefined,
  stream: Stream,
  ordinal: number,
  atMs: number,
): number {
  if (disorder === undefined) return ordinal;
  const { percent, fromMs = -Infinity, untilMs = Infinity } = disorder;
  if (atMs < fromMs || atMs >= untilMs) return ordinal;
  const place = ordinal % windowSize;
  const random = new Random(stream, (ordinal - place) / windowSize);
  if (random.below(100_000) >= percent * 1000) return ordinal;
  // Odd, so that neighbours trade order and every page of some items shows it.
  return ordinal - place + (place ^ (random.below(windowSize) | 1));
}
