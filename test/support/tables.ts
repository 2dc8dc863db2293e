import type { Pool } from 'pg';
import { truth, type SimulatedChain, type TruthScope } from '../../src/simulator/index.ts';

/** Columns that say when and from which page a row came; the truth knows nothing of them. */
const provenance = ['first_seen_at', 'updated_at', 'page_id', 'observed_at', 'walked_at'];

type Row = Record<string, unknown>;

/** A row in one spelling, so that equal rows are equal text. */
function spell(row: Row): string {
  return JSON.stringify(sorted(row));
}

function sorted(value: unknown): unknown {
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .map(([name, member]) => [name, sorted(member)] as const)
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
}

/** bigint arrives as text like numeric; the column's type tells which is a count. */
async function storedRows(pool: Pool, table: string, chainId: number): Promise<string[]> {
  const { rows, fields } = await pool.query<Row>(
    `select * from explorer.${table} where chain_id = $1`,
    [chainId],
  );
  const bigints = fields.filter(({ dataTypeID }) => dataTypeID === 20).map(({ name }) => name);
  return rows
    .map((row) => {
      const kept: Row = { ...row };
      for (const name of provenance) delete kept[name];
      for (const name of bigints) {
        if (name in kept && kept[name] !== null) kept[name] = Number(kept[name]);
      }
      return spell(kept);
    })
    .sort();
}

export interface TableDifference {
  readonly missing: readonly string[];
  readonly unexpected: readonly string[];
}

/** How many differing rows are shown of a table. */
const shown = 3;

/**
 * Holds every table of schema `explorer` against the simulator's truth for a chain, row for row
 * and column for column. Empty when all are equal.
 */
export async function differences(
  pool: Pool,
  seed: number,
  chain: SimulatedChain,
  scope?: TruthScope,
): Promise<Record<string, TableDifference>> {
  const found: Record<string, TableDifference> = {};
  for (const [table, rows] of Object.entries(truth(seed, chain, scope))) {
    const expected = rows.map(spell).sort();
    const stored = await storedRows(pool, table, chain.id);
    const [wanted, had] = [new Set(expected), new Set(stored)];
    const missing = expected.filter((row) => !had.has(row));
    const unexpected = stored.filter((row) => !wanted.has(row));
    if (missing.length + unexpected.length > 0 || expected.length !== stored.length) {
      found[`${table} (${expected.length} expected, ${stored.length} stored)`] = {
        missing: missing.slice(0, shown),
        unexpected: unexpected.slice(0, shown),
      };
    }
  }
  return found;
}
