import type { Pool } from 'pg';
import type { SimulatedChain } from '../../simulator/index.ts';
import { truth, truthAt, type TruthScope } from '../truth/truth.ts';

/**
 * Columns that say when and from which page a row came, and of a chain what the explorer does not report; the truth
 * knows nothing of them.
 */
const provenance = [
  'first_seen_at',
  'updated_at',
  'page_id',
  'observed_at',
  'walked_at',
  'native_symbol',
  'native_decimals',
  'explorer_url',
];

/** The lists that a test copies and compares unless it names others. */
export const coreLists = ['user-operations', 'optimism-batch-blocks', 'factories'] as const;

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

/**
 * The rows of a table, spelled, without their provenance. bigint arrives as text like numeric; the
 * column's type tells which is a count.
 */
async function storedRows(
  pool: Pool,
  table: string,
  chainId: number,
  loosen: (row: Row) => Row,
): Promise<string[]> {
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
      return spell(loosen(kept));
    })
    .sort();
}

export interface TableDifference {
  readonly missing: readonly string[];
  readonly unexpected: readonly string[];
}

/** How many differing rows are shown of a table. */
const shown = 3;

/** Which rows one of two tables lacks; null when they are equal. */
function compareRows(
  expected: readonly string[],
  stored: readonly string[],
): TableDifference | null {
  const [wanted, had] = [new Set(expected), new Set(stored)];
  const missing = expected.filter((row) => !had.has(row)).sort();
  const unexpected = stored.filter((row) => !wanted.has(row)).sort();
  if (missing.length + unexpected.length === 0 && expected.length === stored.length) return null;
  return { missing: missing.slice(0, shown), unexpected: unexpected.slice(0, shown) };
}

/**
 * Holds every table of schema `explorer` against the simulator's truth for a chain, row for row
 * and column for column. Empty when all are equal. Of `coreLists`, unless the
 * scope names others.
 */
export async function differences(
  pool: Pool,
  seed: number,
  chain: SimulatedChain,
  scope: TruthScope = {},
): Promise<Record<string, TableDifference>> {
  return differencesFrom(pool, chain, truth(seed, chain, { operations: coreLists, ...scope }));
}

/**
 * Holds the tables that `wanted` names against its rows, as `differences` does; of `block_reorgs` only that nothing is
 * untrue: who looks now and then has seen some.
 *
 * @param loosen drops what is not to be compared
 */
export async function differencesFrom(
  pool: Pool,
  chain: SimulatedChain,
  wanted: Readonly<Record<string, readonly Row[]>>,
  loosen = (row: Row) => row,
): Promise<Record<string, TableDifference>> {
  const found: Record<string, TableDifference> = {};
  for (const [table, rows] of Object.entries(wanted)) {
    const stored = await storedRows(pool, table, chain.id, loosen);
    const all = rows.map((row) => spell(loosen(row)));
    const expected = table === 'block_reorgs' ? all.filter((row) => stored.includes(row)) : all;
    const difference = compareRows(expected, stored);
    if (difference !== null) {
      found[`${table} (${expected.length} expected, ${stored.length} stored)`] = difference;
    }
  }
  return found;
}

/** Without what the service does not report: when a row left, and how many operations a bundle had then. */
function loosened(row: Row): Row {
  const { removed_at: removed, missing_since: missing } = row;
  return {
    ...row,
    ...(removed !== undefined && { removed_at: removed !== null }),
    ...(missing !== undefined && { missing_since: missing !== null }),
    ...('bundle_index' in row && removed !== null && { total_ops: null }),
  };
}

/**
 * Holds every table of schema `explorer` against what one who has watched a moving chain until a
 * time must hold, row for row. Of `removed_at` and `missing_since` only whether they are set. Empty when all
 * is equal.
 *
 * @param known rows of tables of which one who looks now and then knows less than the truth
 */
export const watchedDifferences = (
  pool: Pool,
  { seed, chain, scope }: { seed: number; chain: SimulatedChain; scope: TruthScope },
  atMs: number,
  known: Readonly<Record<string, readonly Row[]>> = {},
): Promise<Record<string, TableDifference>> =>
  differencesFrom(pool, chain, { ...truthAt(seed, chain, scope, atMs), ...known }, loosened);
