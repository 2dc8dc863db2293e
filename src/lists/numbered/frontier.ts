/**
 * How many empty numbers in a row mean that there is no batch up there, while searching. Numbering
 * has gaps: at 3 % of them, three in a row happen once in 37,000 places.
 */
const missRun = 3;
/** How many empty numbers in a row confirm the latest known batch that was found. */
const confirmRun = 8;

/** What is known of batch numbers while the latest known batch is searched. */
export interface FrontierKnowledge {
  /** The lowest number that is wanted. */
  readonly from: number;
  /** The highest number that is known to have blocks; null while none is. */
  readonly hit: number | null;
  /** Numbers that were found empty. */
  readonly misses: ReadonlySet<number>;
}

/**
 * The next batch number to look at in the search for the newest one, or null when it is found:
 * `hit` is the latest known batch then, or there is no batch at all. Gallops upward by doubling steps, halves
 * between the last hit and the first run of misses, and confirms with a longer run, because
 * numbers can be gaps. Pure: the answer to each poll is added to what is known.
 */
export function nextProbe({ from, hit, misses }: FrontierKnowledge): number | null {
  const base = hit ?? from - 1;
  const above = [...misses].filter((number) => number > base).sort((a, b) => a - b);
  const end = above.find((number) => runLength(misses, number) >= missRun);
  const unsure = above.find(
    (number) => number < (end ?? Infinity) && !misses.has(number - 1) && number - 1 !== base,
  );
  if (unsure !== undefined) return unsure + runLength(misses, unsure);
  const atBase = runLength(misses, base + 1);
  if (end === undefined) {
    // Empty numbers right above the last hit end the search only by the longer run.
    return atBase > 0 ? confirm(base, atBase) : base + Math.max(1, base - from + 1);
  }
  return end - base > 1 && atBase === 0
    ? base + Math.floor((end - base) / 2)
    : confirm(base, atBase);
}

const confirm = (base: number, length: number) => (length >= confirmRun ? null : base + 1 + length);

function runLength(misses: ReadonlySet<number>, start: number): number {
  let length = 0;
  while (misses.has(start + length)) length += 1;
  return length;
}

/**
 * Where live runs look when the number right above the latest known batch stays empty: first as wide as the
 * run that confirms a latest known batch, then also by doubling. Numbering goes on behind any gap, so that one
 * of these is met in time; what it passes over is read as history.
 */
const near = Array.from({ length: confirmRun - 1 }, (_, index) => index + 2);
const far = [16, 32, 64, 128, 256, 512];

/**
 * Where above the latest known batch the nth poll goes, from 0: right above it on the first poll and every
 * other one, where the next batch will be, and in between to the numbers behind, in case that one is
 * a gap: 1, 2, 1, 3, 1, 4 … One request a run.
 */
export function offsetOf(poll: number): number {
  if (poll % 2 === 0) return 1;
  const turn = (poll - 1) / 2;
  const all = [...near, ...far];
  return near[turn] ?? all[(turn - near.length) % all.length] ?? 1;
}
