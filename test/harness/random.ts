/** Uniform in [0, 1), the same from the same seed (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** One of some that have weights; `part` of all the weight, from 0 on, is before it. */
export function drawnByWeight<Choice extends { readonly weight: number }>(
  choices: readonly Choice[],
  part: number,
): Choice {
  let left = part * choices.reduce((sum, { weight }) => sum + weight, 0);
  const drawn = choices.find(({ weight }) => (left -= weight) < 0) ?? choices.at(-1);
  if (drawn === undefined) throw new Error('nothing to draw from');
  return drawn;
}

/** Chance that a seed decides. */
export interface Chance {
  /** A whole number from `low` to `high`, both included. */
  whole(low: number, high: number): number;
  /** True in so many of a hundred. */
  percent(share: number): boolean;
  pick<Choice>(choices: readonly Choice[]): Choice;
}

/**
 * The same chance for the same seed and place, whatever else was decided before: so what one lie
 * changes of the requests that follow changes no lie about other requests.
 */
export function chanceOf(seed: number, place: string): Chance {
  const random = seededRandom(Math.imul(seed, 0x9e_37_79_b1) ^ digest(place));
  const whole = (low: number, high: number) => low + Math.floor(random() * (high - low + 1));
  return {
    whole,
    percent: (share) => random() * 100 < share,
    pick(choices) {
      const chosen = choices[whole(0, choices.length - 1)];
      if (chosen === undefined) throw new Error('nothing to choose from');
      return chosen;
    },
  };
}

/** FNV-1a, 32 bits. */
function digest(text: string): number {
  let hash = 0x81_1c_9d_c5;
  for (const character of text) {
    hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01_00_01_93);
  }
  return hash;
}
