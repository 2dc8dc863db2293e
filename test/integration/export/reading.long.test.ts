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

test('DuckDB sums amounts exactly in wei, and as doubles in the own currency of a chain', async () => {
  const { query, url } = await copiedChains();
  await query('update explorer.user_operations set fee = mod(fee, 1e18)');
  const lake = await openLake({ url });
  const ask = await openDuckDb();

  await lake.exported(['user_operations', 'operations_enriched']);

  const rows = await query(`
    select sum(fee)::text as fee, sum(fee_native)::float8 as fee_native, native_symbol
    from explorer.operations_enriched group by native_symbol`);
  for (const name of ['user_operations', 'operations_enriched']) {
    const read = await ask(
      `select sum(fee) as fee, sum(fee_native) as fee_native, native_symbol
       from '${lake.folder}/${name}/**/*.parquet' group by native_symbol`,
    );
    const native = expect.closeTo(rows[0]?.fee_native ?? 0, 9);
    expect(read).toEqual(rows.map((row) => ({ ...row, fee_native: native })));
    const columns = await ask(`describe select * from '${lake.folder}/${name}/**/*.parquet'`);
    const types = new Map(columns.map((one) => [one['column_name'], one['column_type']]));
    expect([types.get('fee'), types.get('fee_native')]).toEqual(['DECIMAL(38,0)', 'DOUBLE']);
    expect([...types.keys()]).not.toContain('page_id');
  }
});
