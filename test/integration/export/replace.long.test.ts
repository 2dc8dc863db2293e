import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { freshDatabase } from '../../harness/database.ts';
import { eventually, startProgram } from '../../harness/process.ts';
import { openDuckDb } from './duckdb.ts';
import { openLake } from './lake.ts';

/** Two operations on each of so many days from 2026-01-01 on, on chains 10 and 8453. */
async function days(count: number) {
  const database = await freshDatabase();
  await database.query(
    `insert into explorer.user_operations
       (chain_id, hash, "timestamp", fee, address_hash, first_seen_at, updated_at, page_id)
     select chain_id, '0x' || encode(sha256(n::text::bytea), 'hex'),
            timestamptz '2026-01-01' + n % $1::int * interval '1 day', 1, '0x0', now(), now(), 1
     from unnest('{10,8453}'::bigint[]) as chain_id, generate_series(1, $1::int * 2) as n`,
    [count],
  );
  const lake = await openLake(database);
  const ask = await openDuckDb();
  return {
    database,
    lake,
    /** Sets all fees, or those of a day. */
    change: (fee: number, where = 'true') =>
      database.query(
        `update explorer.user_operations set fee = ${fee}, updated_at = etl.change_time() where ${where}`,
      ),
    publish: () => database.query('select etl.publish_changes(false)'),
    /** Days by the fees that their files hold, such as `10/01: 2`. */
    fees: async (): Promise<string[]> => {
      const rows = await ask(
        `select chain_id || '/' || coalesce(right(day::varchar, 2), '-') as day,
                string_agg(distinct fee::varchar, ' ' order by fee::varchar) as fees
         from read_parquet('${lake.folder}/user_operations/**/*.parquet', hive_partitioning = true)
         group by 1 order by 1`,
      );
      return rows.map(({ day, fees }) => `${String(day)}: ${String(fees)}`);
    },
    ask,
  };
}

const exportChanges = ['user_operations', '--changed'];

test('an export that is killed while it replaces days leaves each of them whole, and the next one ends it', async () => {
  const { lake, change, database, ask, publish } = await days(40);
  await publish();
  await lake.exported(['user_operations']);
  await change(2);
  const first = join(lake.folder, 'user_operations/chain_id=10/day=2026-01-01/data.parquet');
  const { ino } = await stat(first);
  const args = ['export', ...exportChanges, '--to', lake.folder];
  const program = startProgram(args, {
    databaseUrl: database.url,
    explorerUrl: 'http://localhost:1',
    cwd: '/',
  });
  await eventually('the first day to be replaced', async () => (await stat(first)).ino !== ino, {
    everyMs: 1,
  });
  program.kill('SIGKILL');
  await program.ended();

  const files = `read_parquet('${lake.folder}/user_operations/**/*.parquet', hive_partitioning = true)`;
  const held = () =>
    ask(
      `select distinct count(*)::int as rows, min(fee) = max(fee) as whole, max(fee)::int as fee
       from ${files} group by chain_id, day order by fee`,
    );
  const whole = { rows: 2, whole: true };
  expect([
    [
      { ...whole, fee: 1 },
      { ...whole, fee: 2 },
    ],
    [{ ...whole, fee: 2 }],
  ]).toContainEqual(await held());

  const outcomes = await lake.exported(exportChanges);

  expect(outcomes.get('user_operations')).toMatchObject({ files: 80 });
  expect(await held()).toEqual([{ ...whole, fee: 2 }]);
  expect(await lake.left()).toEqual([]);
});
