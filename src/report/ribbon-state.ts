import type { RibbonWindow } from '../lists/ribbon.ts';

/** How a number of a list stands: a block, or a batch. */
export type RibbonState =
  'missing' | 'doubtful' | 'unknown' | 'reading' | 'waiting' | 'unwanted' | 'proved';

/** The gravest first: where several share a bucket, the first of them is shown, so nothing hides a hole. */
const gravest: readonly RibbonState[] = [
  'missing',
  'doubtful',
  'unknown',
  'reading',
  'waiting',
  'unwanted',
  'proved',
];

/** Numbers of one state that begin in one bucket and end in one: both ends belong to them. */
export interface RibbonPart {
  readonly state: RibbonState;
  readonly first: number;
  readonly last: number;
  readonly from: number;
  readonly to: number;
  /** Ranges; more than one of them are all in one bucket. */
  readonly pieces: number;
  readonly numbers: number;
}

/** Neighbouring buckets that show one state. */
export interface RibbonSegment {
  readonly state: RibbonState;
  /** The first and the last bucket. */
  readonly first: number;
  readonly last: number;
  /** The lowest and the highest number of the state in them. */
  readonly from: number;
  readonly to: number;
  /** Ranges of the state, and what they hold. */
  readonly pieces: number;
  readonly numbers: number;
}

/** Numbers of a window in buckets: never less than one number in each. */
export const bucketsOf = ({ from, to }: RibbonWindow, most: number): number =>
  Math.max(1, Math.min(most, to - from + 1));

/** The lowest number of a bucket; of the one after the last, the number after the window. */
export const startOf = ({ from, to }: RibbonWindow, buckets: number, bucket: number): number =>
  from + Number((BigInt(bucket) * BigInt(to - from + 1) + BigInt(buckets) - 1n) / BigInt(buckets));

/** The segments of a window, from its parts. Pure. */
export function segmentsOf(
  window: RibbonWindow,
  buckets: number,
  parts: readonly RibbonPart[],
): RibbonSegment[] {
  const shown = Array.from({ length: buckets }, (): RibbonState => 'proved');
  for (const state of gravest.toReversed()) {
    for (const { first, last } of parts.filter((part) => part.state === state)) {
      shown.fill(state, first, last + 1);
    }
  }
  const segments: RibbonSegment[] = [];
  for (let first = 0; first < buckets;) {
    const state = shown[first] ?? 'proved';
    let last = first;
    while (shown[last + 1] === state) last += 1;
    const cut = {
      from: startOf(window, buckets, first),
      to: startOf(window, buckets, last + 1) - 1,
    };
    segments.push({ state, first, last, ...within(cut, parts, state, first, last) });
    first = last + 1;
  }
  return segments;
}

/** What of the state lies in the buckets: parts of one piece are clipped, those of several are in one bucket. */
function within(
  cut: RibbonWindow,
  parts: readonly RibbonPart[],
  state: RibbonState,
  first: number,
  last: number,
) {
  const found = parts
    .filter((part) => part.state === state && part.first <= last && part.last >= first)
    .map((part) => {
      const [from, to] = [Math.max(part.from, cut.from), Math.min(part.to, cut.to)];
      return { ...part, from, to, numbers: part.pieces > 1 ? part.numbers : to - from + 1 };
    });
  return {
    from: found.reduce((least, { from }) => Math.min(least, from), cut.to),
    to: found.reduce((most, { to }) => Math.max(most, to), cut.from),
    pieces: found.reduce((sum, { pieces }) => sum + pieces, 0),
    numbers: found.reduce((sum, { numbers }) => sum + numbers, 0),
  };
}
