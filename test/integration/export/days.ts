import { freshDatabase } from '../../harness/database.ts';
import { openDuckDb } from './duckdb.ts';
import { openLake } from './lake.ts';

/** Two operations on each of so many days from 2026-01-01 on, on chains 10 and 8453. */
export async function days(count: number) {
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

export const exportChanges = ['user_operations', '--changed'];
