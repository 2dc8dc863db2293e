/** With more typing errors, a suggestion would be a guess. */
const mostEdits = 3;

/** The candidate for "did you mean"; null if none is near. */
export function nearest(word: string, candidates: readonly string[]): string | null {
  const ranked = candidates
    .map((candidate) => ({ candidate, distance: edits(plain(word), plain(candidate)) }))
    .toSorted((a, b) => a.distance - b.distance);
  const best = ranked[0];
  if (best === undefined) return null;
  const limit = Math.min(mostEdits, Math.ceil(best.candidate.length / 3));
  return best.distance <= limit ? best.candidate : null;
}

/** Equates World Chain, world-chain and worldchain. */
export const plain = (text: string): string => text.toLowerCase().replaceAll(/[-_ ]/gu, '');

/** The Levenshtein distance. */
function edits(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [index, letter] of Array.from(from).entries()) {
    const next = [index + 1];
    for (const [column, other] of Array.from(to).entries()) {
      const replaced = (row[column] ?? 0) + (letter === other ? 0 : 1);
      next.push(Math.min(replaced, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
