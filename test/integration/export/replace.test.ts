import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { call } from '../../harness/process.ts';
import { days, exportChanges } from './days.ts';

const dayOf = (day: number) => `"timestamp"::date = '2026-01-0${day}'`;

test('--overwrite replaces the days and chains that it exports, and keeps the others', async () => {
  const { lake, change, fees, database } = await days(7);
  await database.query(`insert into explorer.chains (chain_id, name) values (10, 'optimism')`);
  await lake.exported(['user_operations', 'chains']);
  await change(2);
  await database.query(`delete from explorer.user_operations where ${dayOf(4)}`);
  const limits = ['--since', '2026-01-03', '--until', '2026-01-04', '--chain', '10'];

  const outcomes = await lake.exported(['user_operations', ...limits, '--overwrite']);

  expect(outcomes.get('user_operations')).toMatchObject({ rows: 2, files: 1 });
  const ofBase = ['1', '2', '3', '4', '5', '6', '7'].map((day) => `8453/0${day}: 1`);
  const ofOptimism = ['01: 1', '02: 1', '03: 2', '05: 1', '06: 1', '07: 1'];
  expect(await fees()).toEqual([...ofOptimism.map((day) => `10/${day}`), ...ofBase]);
  expect(await lake.paths()).toContain('chains/chain_id=10/data.parquet');
  expect(await lake.paths()).toHaveLength(14);
});

test('a relation does not get files of two formats', async () => {
  const { lake } = await days(2);
  await lake.exported(['user_operations', '--since', '2026-01-02']);
  const before = await lake.paths();
  const csv = ['user_operations', '--overwrite', '--format', 'csv'];
  expect(await lake.run([...csv, '--until', '2026-01-01'])).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/02\/data\.parquet would remain beside other formats/u),
  });
  expect(await lake.paths()).toEqual(before);

  await lake.exported(csv);

  expect((await lake.paths()).map((path) => path.split('.').at(-1))).toEqual(
    Array.from({ length: 4 }, () => 'csv'),
  );
});

test('--changed exports the days of rows that changed, moved or went, and no others', async () => {
  const { lake, change, fees, publish, database } = await days(7);
  await publish();
  const first = await lake.exported(exportChanges);
  expect(first.get('user_operations')).toMatchObject({ files: 14 });
  expect((await lake.exported(exportChanges)).get('user_operations')).toMatchObject({ files: 0 });

  await change(2, `chain_id = 10 and ${dayOf(3)}`);
  await database.query(`
    update explorer.user_operations set "timestamp" = '2026-01-06', updated_at = etl.change_time()
    where chain_id = 10 and ${dayOf(5)}`);
  await database.query(
    `delete from explorer.user_operations where chain_id = 8453 and ${dayOf(1)}`,
  );
  await database.query(`
    update explorer.user_operations set "timestamp" = null, updated_at = etl.change_time()
    where hash in (select min(hash) from explorer.user_operations where ${dayOf(7)}) and chain_id = 8453`);
  await rm(join(lake.folder, 'user_operations/chain_id=8453/day=2026-01-02'), { recursive: true });
  await publish();
  const limited = await lake.exported([...exportChanges, '--until', '2026-01-03']);
  // Day 3 of chain 10, day 2 of chain 8453, and rows without a day.
  expect(limited.get('user_operations')).toMatchObject({ files: 3 });

  const outcomes = await lake.exported(exportChanges);

  // Day 6 of chain 10 and day 7 of chain 8453; day 5 has no rows left.
  expect(outcomes.get('user_operations')).toMatchObject({ files: 2, rows: 5 });
  const stored = await database.query(`
    select chain_id || '/' || coalesce(to_char("timestamp" at time zone 'UTC', 'DD'), '-') as day,
           string_agg(distinct fee::text, ' ') as fees
    from explorer.user_operations group by 1`);
  const sorted = (await fees()).toSorted();
  expect(sorted).toEqual(
    stored.map(({ day, fees: held }) => `${String(day)}: ${String(held)}`).toSorted(),
  );
  expect((await lake.exported(exportChanges)).get('user_operations')).toMatchObject({ files: 0 });
});

// As a kill leaves it that comes before the file of a day without rows is deleted.
test('--changed deletes the file of a day without rows that its contents do not name any more', async () => {
  const { lake, database, publish, fees } = await days(3);
  await publish();
  await lake.exported(['user_operations']);
  await database.query(`delete from explorer.user_operations where ${dayOf(2)} and chain_id = 10`);
  const mark = join(lake.folder, '.explorer-etl-export');
  const contents = JSON.parse(await readFile(mark, 'utf8'));
  delete contents.user_operations['chain_id=10/day=2026-01-02'];
  await writeFile(mark, JSON.stringify(contents));

  await lake.exported(exportChanges);

  expect(await fees()).toEqual(['10/01: 1', '10/03: 1', '8453/01: 1', '8453/02: 1', '8453/03: 1']);
});

test('--changed misses no change that committed after later ones', async () => {
  const { lake, change, fees, publish, database } = await days(2);
  await publish();
  const session = await database.pool.connect();
  await session.query('begin');
  await session.query(
    `update explorer.user_operations set fee = 3, updated_at = etl.change_time() where chain_id = 10 and ${dayOf(1)}`,
  );
  await change(2, `chain_id = 10 and "timestamp" is not null and fee = 1 and ${dayOf(2)}`);
  await publish();
  await lake.exported(exportChanges);
  await session.query('commit');
  session.release();
  await publish();

  await lake.exported(exportChanges);

  expect(await fees()).toEqual(['10/01: 3', '10/02: 2', '8453/01: 1', '8453/02: 1']);
});

// Their numbers of rows are equal, and those of the other one are older than the folder.
test('--changed exports again what was written from another database', async () => {
  const other = await days(2);
  await other.change(3);
  const { lake, publish, fees } = await days(2);
  await other.publish();
  await publish();
  await lake.exported(exportChanges);

  const env = { DATABASE_URL: other.database.url };
  expect((await call(['export', ...exportChanges, '--to', lake.folder], { env })).code).toBe(0);

  expect(await fees()).toEqual(['10/01: 3', '10/02: 3', '8453/01: 3', '8453/02: 3']);
});

// A backup that is restored into the same database, or a snapshot of the server's disk: work goes on in it.
test('--changed exports again what is newer than an older copy that was restored', async () => {
  const { lake, change, fees, publish, database } = await days(3);
  await database.query('create table public.backup as table explorer.user_operations');
  await change(2, `${dayOf(2)} and chain_id = 10`);
  await publish();
  await lake.exported(exportChanges);

  await database.query('truncate explorer.user_operations');
  await database.query('insert into explorer.user_operations table public.backup');
  await publish();
  expect((await lake.exported(exportChanges)).get('user_operations')).toMatchObject({ files: 1 });

  expect(new Set((await fees()).map((day) => day.split(' ')[1]))).toEqual(new Set(['1']));
});

test("--changed exports again what was written with other columns or in another currency's units", async () => {
  const { lake, publish, database } = await days(1);
  await database.query(
    `insert into explorer.chains (chain_id, name) values (10, 'optimism'), (8453, 'base')`,
  );
  await publish();
  await lake.exported(exportChanges);

  await database.query(`update explorer.chains set native_symbol = 'ETH' where chain_id = 10`);
  expect((await lake.exported(exportChanges)).get('user_operations')).toMatchObject({ files: 1 });
  await database.query('alter table explorer.user_operations add column own text');
  expect((await lake.exported(exportChanges)).get('user_operations')).toMatchObject({ files: 2 });
});
