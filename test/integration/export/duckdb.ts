import { DuckDBInstance } from '@duckdb/node-api';
import { onTestFinished } from 'vitest';

/** A row of DuckDB: its large integers, decimals and times are text. */
export type DuckRow = Readonly<Record<string, unknown>>;

/** A DuckDB of the running test's own, in memory. */
export async function openDuckDb(): Promise<(statement: string) => Promise<DuckRow[]>> {
  const instance = await DuckDBInstance.create(':memory:', { threads: '1' });
  const connection = await instance.connect();
  onTestFinished(() => {
    connection.closeSync();
    instance.closeSync();
  });
  await connection.run(`set timezone = 'UTC'`);
  return async (statement) => (await connection.runAndReadAll(statement)).getRowObjectsJson();
}
