import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { emptyFolder, call } from '../../harness/process.ts';
import { openDuckDb, type DuckRow } from './duckdb.ts';
import { copiedChains } from './lake.ts';

const page = join(import.meta.dirname, '../../../docs/export.md');

/** The blocks of docs/export.md in a language, in order. */
async function blocks(language: string): Promise<string[]> {
  const text = await readFile(page, 'utf8');
  return [...text.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, 'gmsu'))].map(
    ([, block = '']) => block,
  );
}

const plain = (rows: readonly DuckRow[]) =>
  rows.map((row) => Object.values(row).map(String)).toSorted((a, b) => Number(a[0]) - Number(b[0]));

test('the statements of docs/export.md read what export and psql wrote', async () => {
  const { url, query } = await copiedChains();
  // The simulated explorer serves amounts that no integer of DuckDB holds.
  await query('update explorer.user_operations set fee = mod(fee, 1e18)');
  const cwd = await emptyFolder();
  const env = { DATABASE_URL: url };
  for (const format of [
    ['--to', 'lake'],
    ['--to', 'csv', '--format', 'csv'],
  ]) {
    expect(await call(['export', 'user_operations', ...format], { env, cwd })).toMatchObject({
      code: 0,
    });
  }
  const [copying = ''] = await blocks('sh');
  await promisify(execFile)('sh', ['-c', copying], {
    cwd,
    env: { PATH: process.env['PATH'], ...env },
  });
  const ask = await openDuckDb();
  const [parquet = [], csv = [], copied = []] = await Promise.all(
    (await blocks('sql')).map((statement) =>
      ask(statement.replaceAll(/'(?=lake\/|csv\/|operations\.csv)/gu, `'${cwd}/`)),
    ),
  );

  const sumsOf = async (rest: string) => {
    const sums = 'count(*)::text as operations, sum(fee)::text as fee';
    const chain = rest.includes('group by') ? 'chain_id::text, ' : '';
    return plain(await query(`select ${chain}${sums} from explorer.user_operations ${rest}`));
  };
  // An operation without a time has no day.
  expect(plain(parquet).map((row) => row.slice(0, 3))).toEqual(
    await sumsOf(`where "timestamp" >= '2026-01-01' group by chain_id`),
  );
  expect(plain(csv)).toEqual(await sumsOf('group by chain_id'));
  expect(plain(copied)).toEqual(await sumsOf('where chain_id = 10'));

  // Where pandas is installed, as in the notebooks that this is for.
  const script = `${(await blocks('python')).join('')}\nprint(len(frame), wei, abs(native - float(wei) / 1e18) < 1e-9)`;
  const python = promisify(execFile)('python3', ['-c', script], { cwd });
  const printed = await python.then(({ stdout }) => stdout.trim().split(' ')).catch(String);
  if (/No module named|ENOENT/u.test(String(printed))) return;
  expect([printed]).toEqual((await sumsOf('where chain_id = 10')).map((row) => [...row, 'True']));
});
