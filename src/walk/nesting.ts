import { isExactNumber } from '../exact-number.ts';

/** What stands in a cut item in the place of what was nested deeper. */
const cutMark = '(nested deeper than this program reads)';

const isNested = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !isExactNumber(value);

/** Whether lists and objects stand within each other more than `levels` deep. */
export function isDeeper(value: unknown, levels: number): boolean {
  if (!isNested(value)) return false;
  return levels === 0 || Object.values(value).some((inner) => isDeeper(inner, levels - 1));
}

/** A value whose lists and objects are nested at most `levels` deep; what is deeper is said, not kept. */
export function cutNesting(value: unknown, levels: number): unknown {
  if (!isNested(value)) return value;
  if (levels === 0) return cutMark;
  if (Array.isArray(value)) return value.map((inner) => cutNesting(inner, levels - 1));
  // Entries: a literal would make a key `__proto__` the prototype.
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, cutNesting(inner, levels - 1)]),
  );
}
