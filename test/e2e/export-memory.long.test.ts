import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Child, emptyFolder } from '../harness/process.ts';
import { freshDatabase } from '../harness/database.ts';
import { openDuckDb } from '../integration/export/duckdb.ts';

const main = join(import.meta.dirname, '../../src/main.ts');
const rows = 120_000;
/** Less than half of what the rows are as text. */
const heapMb = 96;

test.each(['parquet', 'csv'])('one day larger than memory becomes one file: %s', async (format) => {
  const { url, query } = await freshDatabase();
  await query(`
    insert into explorer.user_operations
      (chain_id, hash, "timestamp", fee, extra, first_seen_at, updated_at, page_id)
    select 10, '0x' || md5(n::text), timestamptz '2026-01-01' + n * interval '1 ms', n,
           jsonb_build_object('filler', repeat(md5(n::text), 64)), now(), now(), 1
    from generate_series(1, ${rows}) as n`);
  const folder = join(await emptyFolder(), 'lake');
  const child = spawn(
    process.execPath,
    [
      `--max-old-space-size=${heapMb}`,
      main,
      'export',
      'user_operations',
      '--to',
      folder,
      '--format',
      format,
    ],
    {
      cwd: '/',
      stdio: ['ignore', 'ignore', 'pipe'],
      env: { PATH: process.env['PATH'], DATABASE_URL: url },
    },
  );
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const { code } = await new Child(child).exit;
  expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining('120,000 rows') });

  const ask = await openDuckDb();
  const path = `${folder}/user_operations/chain_id=10/day=2026-01-01/data.${format}`;
  const [read] = await ask(
    `select count(*)::int as rows, sum(fee::hugeint)::varchar as fees,
            sum(length(extra->>'$.filler'))::varchar as filler
     from '${path}'`,
  );
  expect(read).toEqual({
    rows,
    fees: String((BigInt(rows) * BigInt(rows + 1)) / 2n),
    filler: String(rows * 32 * 64),
  });
});
