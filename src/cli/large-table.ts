import type { Pool } from 'pg';
import { distribute } from '../db/distribute.ts';
import { withAdvisoryLock, type Lock, type Waiting } from '../db/lock.ts';
import { partition } from '../db/partition.ts';
import { largeTable } from '../operations/index.ts';

/** One for every explorer-etl on a database, while a table is taken apart: "etllayt" in ASCII. */
const layoutLock: Lock = {
  key: 0x65_74_6c_6c_61_79_74n,
  work: 'changes how a table lies',
};

/** How the table that grows most lies now. */
export interface TableLayout {
  readonly table: string;
  readonly is: 'partitioned' | 'distributed';
  readonly outcome: 'done' | 'already';
  /** Null where it is distributed. */
  readonly partitions: string[] | null;
  /** Rows that moved to other servers; null where none had to. */
  readonly rows: number | null;
}

/**
 * Partitions the table that grows most by chain, or spreads it over servers. Those who had rights on it
 * keep them.
 *
 * @param tell called after each step
 * @throws MigrationError where that can't be; nothing is changed then
 */
export async function changeLargeTable(
  pool: Pool,
  is: TableLayout['is'],
  tell: (step: string) => void,
  waiting?: Waiting,
): Promise<TableLayout> {
  const { name: table } = largeTable;
  const change = async (): Promise<TableLayout> => {
    if (is === 'distributed') {
      const { outcome, rows } = await distribute(pool, largeTable);
      return { table, is, outcome, partitions: null, rows: rows === null ? null : Number(rows) };
    }
    const { outcome, partitions } = await partition(pool, largeTable, tell);
    return { table, is, outcome, partitions: [...partitions], rows: null };
  };
  return withAdvisoryLock(pool, layoutLock, change, waiting);
}

/** A layout in a sentence without its full stop. */
export function spellLayout({ table, outcome, partitions, rows }: TableLayout): string {
  const is = `${table} is ${outcome === 'already' ? 'already ' : ''}`;
  if (partitions !== null) return `${is}partitioned by chain: ${partitions.join(', ')}`;
  const moved = rows === null ? '' : `, with its ${rows} rows`;
  return `${is}spread over the servers of the cluster by ${largeTable.spreadBy}${moved}`;
}
