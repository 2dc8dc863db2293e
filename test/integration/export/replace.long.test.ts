import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { eventually, startProgram } from '../../harness/process.ts';
import { days, exportChanges } from './days.ts';

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
