/** A stretch of time in bins of one width, whose borders are whole multiples of it since 1970 (UTC). */
export interface TimeWindow {
  /** In ms. */
  readonly from: number;
  readonly bins: number;
  readonly binSeconds: number;
}

/** How long a window is, and how fine. */
export interface WindowLength {
  readonly seconds: number;
  readonly binSeconds: number;
}

/** The window whose last bin holds `at`, in ms. */
export function windowUpTo(at: number, { seconds, binSeconds }: WindowLength): TimeWindow {
  const bins = seconds / binSeconds;
  const end = Math.floor(at / (1000 * binSeconds)) + 1;
  return { from: (end - bins) * 1000 * binSeconds, bins, binSeconds };
}

const daySeconds = 86_400;

/** The day (UTC) that holds `at`, in ms. */
export const windowOfDay = (at: number, binSeconds: number): TimeWindow => ({
  from: Math.floor(at / (1000 * daySeconds)) * 1000 * daySeconds,
  bins: daySeconds / binSeconds,
  binSeconds,
});

/** When a bin begins, in ms; the one after the last is the window's end. */
export const binStart = ({ from, binSeconds }: TimeWindow, bin: number): number =>
  from + bin * binSeconds * 1000;

/** Where a time is, in bins from the window's begin. */
export const placeIn = ({ from, binSeconds }: TimeWindow, at: number): number =>
  (at - from) / (1000 * binSeconds);
