import type { Row } from '../db/row.ts';

/** Which known member may lend a told one of the same position what was not read of it. */
type Lends = (told: Row, known: Row) => boolean;

/** Of an address's list: one that says the same in all that was told. Positions are taken anew. */
export const sameMember: Lends = (told, known) =>
  Object.entries(told).every(
    ([column, value]) => value === null || JSON.stringify(value) === JSON.stringify(known[column]),
  );

/**
 * A list of which some members were not read, or not whole, completed by what is known of it: they
 * stay as they were known. All other members are as told.
 *
 * @param positions of the members that were not read whole; a row without a position has 0
 */
export function completeMembers(
  told: readonly Row[],
  known: readonly Row[],
  positions: readonly number[],
  lends: Lends,
): Row[] {
  const wanted = new Set(positions);
  const knownAt = new Map(known.map((row) => [positionOf(row), row]));
  const toldAt = new Set(told.map(positionOf));
  const completed = told.map((row) => {
    const before = wanted.has(positionOf(row)) ? knownAt.get(positionOf(row)) : undefined;
    return before !== undefined && lends(row, before) ? fill(row, before, Object.keys(row)) : row;
  });
  const kept = known.filter((row) => wanted.has(positionOf(row)) && !toldAt.has(positionOf(row)));
  return [...completed, ...kept];
}

const positionOf = (row: Row) => Number(row['position'] ?? 0);

/** A row with those of the columns that it has null in as another row has them. */
export const fill = (row: Row, known: Row, columns: readonly string[]): Row => ({
  ...row,
  ...Object.fromEntries(
    columns.filter((column) => row[column] === null).map((column) => [column, known[column]]),
  ),
});
