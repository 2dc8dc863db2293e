import type { Pool } from 'pg';
import type { SimulatedChain } from '../../simulator/index.ts';
import { truthAt, type TruthScope } from '../truth/truth.ts';
import { compareRows, storedRows, spell, type TableDifference } from './tables.ts';

type Row = Record<string, unknown>;

/** Times that the service does not tell: one who looks now and then knows that, not when. */
const unwatched: Readonly<Record<string, string>> = {
  user_operations: 'removed_at',
  factories: 'missing_since',
};

/**
 * Holds every table of schema `explorer` against what one who has watched a moving chain until a
 * time must hold, row for row. Of `removed_at` and `missing_since` only whether they are set; of
 * `block_reorgs` only that nothing is untrue: who looks now and then has seen some. Empty when all
 * is equal.
 *
 * @param known rows of tables of which one who looks now and then knows less than the truth
 */
export async function watchedDifferences(
  pool: Pool,
  { seed, chain, scope }: { seed: number; chain: SimulatedChain; scope: TruthScope },
  atMs: number,
  known: Readonly<Record<string, readonly Row[]>> = {},
): Promise<Record<string, TableDifference>> {
  const found: Record<string, TableDifference> = {};
  for (const [table, rows] of Object.entries({ ...truthAt(seed, chain, scope, atMs), ...known })) {
    const loosen = (row: Row) => {
      const column = unwatched[table];
      return column === undefined ? row : { ...row, [column]: row[column] !== null };
    };
    const expected = rows.map((row) => spell(loosen(row)));
    const stored = await storedRows(pool, table, chain.id, loosen);
    const wanted =
      table === 'block_reorgs' ? expected.filter((row) => stored.includes(row)) : expected;
    const difference = compareRows(wanted, stored);
    if (difference !== null) {
      found[`${table} (${wanted.length} expected, ${stored.length} stored)`] = difference;
    }
  }
  return found;
}
