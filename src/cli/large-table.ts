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

/** How the table that grows most lies now, in a sentence too. */
export interface TableLayout {
  readonly table: string;
  readonly is: 'partitioned' | 'distributed';
  readonly outcome: 'done' | 'already';
  readonly told: string;
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
  const wasAlready = (outcome: TableLayout['outcome']) => (outcome === 'already' ? 'already ' : '');
  const change = async (): Promise<TableLayout> => {
    if (is === 'distributed') {
      const { outcome, rows } = await distribute(pool, largeTable);
      const moved = rows === null ? '' : `, with its ${rows} rows`;
      const told = `${table} is ${wasAlready(outcome)}spread over the servers of the cluster by ${largeTable.spreadBy}${moved}`;
      return { table, is, outcome, told };
    }
    const { outcome, partitions } = await partition(pool, largeTable, tell);
    const told = `${table} is ${wasAlready(outcome)}partitioned by chain: ${partitions.join(', ')}`;
    return { table, is, outcome, told };
  };
  return withAdvisoryLock(pool, layoutLock, change, waiting);
}
