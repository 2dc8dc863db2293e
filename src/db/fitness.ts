import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Pool } from 'pg';
import { packageFile } from '../package-file.ts';
import { z } from 'zod';
import { rowsOf } from './transaction.ts';

/** What the statement in sql/checks finds: what is wrong, and what to run. */
export async function problemsOf(
  pool: Pool,
  check: 'server' | 'rights' | 'connections' | 'tables' | 'data',
  values: readonly unknown[] = [],
): Promise<string[]> {
  const text = await readFile(packageFile(`sql/checks/${check}.sql`), 'utf8');
  const rows = await rowsOf(pool, () => z.object({ problem: z.string() }), text, [...values]);
  return rows.map(({ problem }) => problem);
}

/** What of tables, columns, sequences and rows, and of `lost` views, is missing or contradicts the rest, and what to run. */
export async function dataProblems(
  pool: Pool,
  isMigrated: boolean,
  lost: readonly string[] = [],
): Promise<string[]> {
  const folder = packageFile('migrations');
  const files = (await readdir(folder)).filter((name) => name.endsWith('.sql'));
  const texts = await Promise.all(files.map((name) => readFile(join(folder, name), 'utf8')));
  const created = texts.join('\n').matchAll(/^CREATE TABLE "(\w+)"\."(\w+)" \((.*?)^\);/gmsu);
  const tables = [...created].map(([, schema, name, body = '']) => {
    const columns = [...body.matchAll(/^\t"(\w+)"/gmu)].map(([, column]) => column);
    return { name: `${schema}.${name}`, columns };
  });
  const missing = await problemsOf(pool, 'tables', [JSON.stringify(tables), isMigrated]);
  if (!isMigrated || missing.length > 0) return missing;
  return lost.length === 0
    ? problemsOf(pool, 'data')
    : [`missing: ${lost.join(', ')}; run "explorer-etl migrate"`];
}
