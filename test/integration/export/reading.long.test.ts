import { expect, test } from 'vitest';
import { openDuckDb } from './duckdb.ts';
import { copiedChains, openLake } from './lake.ts';
import { plain, storedRows } from './rows.ts';

test('DuckDB reads the same in CSV files, which have the chain too', async () => {
  const database = await copiedChains();
  const lake = await openLake(database);
  const ask = await openDuckDb();

  const outcomes = await lake.exported(['--format', 'csv']);

  for (const { name, rows } of [...outcomes.values()].filter((one) => one.rows > 0)) {
    const read = await ask(
      `select * from read_csv('${lake.folder}/${name}/**/*.csv', header = true, all_varchar = true,
                              allow_quoted_nulls = false, hive_partitioning = false)`,
    );
    const stored = (await storedRows(database, name)).map((row) =>
      row.replaceAll(/: (?:true|false)(?=,|$)/gu, (word) => word.slice(0, 3)),
    );
    expect({ name, rows, read: plain(read) }).toEqual({ name, rows: read.length, read: stored });
  }
});
