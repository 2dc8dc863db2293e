import { expect, test } from 'vitest';
import { freshDatabase } from '../../harness/database.ts';
import { openDuckDb } from './duckdb.ts';
import { copiedChains, openLake } from './lake.ts';
import { plain, storedRows } from './rows.ts';

test('DuckDB reads in Parquet files what Postgres holds, by chain and day', async () => {
  const database = await copiedChains();
  await database.query(`
    update explorer.user_operations set "timestamp" = null
    where hash in (select hash from explorer.user_operations order by hash limit 3)`);
  const lake = await openLake(database);
  const ask = await openDuckDb();

  const outcomes = await lake.exported();

  expect(outcomes.get('user_operations')?.rows).toBe(300);
  expect(outcomes.get('blocks')?.rows).toBe(130);
  for (const { name, rows } of outcomes.values()) {
    const stored = await storedRows(database, name);
    const read =
      rows === 0
        ? []
        : await ask(`select columns(*)::varchar from '${lake.folder}/${name}/**/*.parquet'`);
    expect({ name, rows, read: plain(read) }).toEqual({ name, rows: stored.length, read: stored });
  }
  const daily = await ask(
    `select chain_id::varchar as chain_id, day::varchar as day, count(*)::varchar as rows
     from '${lake.folder}/user_operations/**/*.parquet'
     group by all order by chain_id, day nulls last`,
  );
  const rows = await database.query(`
    select chain_id::text, (timestamp at time zone 'UTC')::date::text as day, count(*)::text as rows
    from explorer.user_operations group by 1, 2 order by chain_id, day nulls last`);
  expect(daily).toEqual(rows);
  expect(rows.filter(({ day }) => day === null)).not.toEqual([]);
});

test('without names, all tables and views of data are exported, but not the views about the mirror', async () => {
  const lake = await openLake(await freshDatabase());
  const names = [...(await lake.exported()).keys()];
  expect(names).toEqual(expect.arrayContaining(['blocks', 'operations_enriched', 'fees_daily']));
  for (const own of ['dictionary', 'freshness', 'gaps', 'provenance', 'credits', 'quarantine']) {
    expect(names).not.toContain(own);
  }
});

test('views are partitioned by chain, and by day if they have a time', async () => {
  const database = await copiedChains();
  const lake = await openLake(database);
  const ask = await openDuckDb();

  await lake.exported(['operations_enriched', 'coverage']);

  for (const name of ['operations_enriched', 'coverage']) {
    const read = await ask(`select columns(*)::varchar from '${lake.folder}/${name}/**/*.parquet'`);
    expect(plain(read)).toEqual(await storedRows(database, name));
  }
  expect(await lake.paths()).toEqual(
    expect.arrayContaining([
      'coverage/chain_id=10/data.parquet',
      expect.stringMatching(
        /^operations_enriched\/chain_id=10\/day=\d{4}-\d\d-\d\d\/data\.parquet$/u,
      ),
    ]),
  );
});
