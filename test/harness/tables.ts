import type { Pool } from 'pg';
import type { SimulatedChain } from '../../simulator/index.ts';
import { truth, truthAt, type TruthScope } from '../truth/truth.ts';

/**
 * Columns that say when and from which page a row came, and of a chain what the explorer does not report; the truth
 * knows nothing of them.
 */
const provenance: ReadonlySet<string> = new Set([
  'first_seen_at',
  'updated_at',
  'page_id',
  'observed_at',
  'walked_at',
  'native_symbol',
  'native_decimals',
  'explorer_url',
]);

/** The lists that a test copies and compares unless it names others. */
export const coreLists = ['user-operations', 'optimism-batch-blocks', 'factories'] as const;

type Row = Record<string, unknown>;

/** A row with its members in order, so that equal rows are equal text. */
const textOf = (row: Row): string =>
  JSON.stringify(row, (_, value: unknown) =>
    typeof value !== 'object' || value === null || Array.isArray(value)
      ? value
      : Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))),
  );

/** The rows of a table, without their provenance. Counts arrive as text, as numeric does: the column's type shows them. */
async function storedRows(pool: Pool, table: string, chainId: number): Promise<Row[]> {
  const { rows, fields } = await pool.query<Row>(
    `select * from explorer.${table} where chain_id = $1`,
    [chainId],
  );
  const kept = fields.filter(({ name }) => !provenance.has(name));
  return rows.map((row) =>
    Object.fromEntries(
      kept.map(({ name, dataTypeID }) => {
        const isCount = dataTypeID === 20 && row[name] !== null;
        return [name, isCount ? Number(row[name]) : row[name]];
      }),
    ),
  );
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
): Promise<Record<string, object>> {
  return differencesFrom(pool, chain, truth(seed, chain, { operations: coreLists, ...scope }));
}

/** How many differing rows are shown of a table. */
const shown = 3;

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
): Promise<Record<string, object>> {
  const found: Record<string, object> = {};
  for (const [table, rows] of Object.entries(wanted)) {
    const stored = (await storedRows(pool, table, chain.id)).map((row) => textOf(loosen(row)));
    const held = new Set(stored);
    const all = rows.map((row) => textOf(loosen(row)));
    const expected = table === 'block_reorgs' ? all.filter((row) => held.has(row)) : all;
    const known = new Set(expected);
    const missing = expected.filter((row) => !held.has(row)).sort();
    const unexpected = stored.filter((row) => !known.has(row)).sort();
    if (missing.length + unexpected.length === 0 && expected.length === stored.length) continue;
    found[`${table} (${expected.length} expected, ${stored.length} stored)`] = {
      missing: missing.slice(0, shown),
      unexpected: unexpected.slice(0, shown),
    };
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
): Promise<Record<string, object>> =>
  differencesFrom(pool, chain, { ...truthAt(seed, chain, scope, atMs), ...known }, loosened);
