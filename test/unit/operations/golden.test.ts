/**
 * Holds every page of `test/golden` against the rows beside it. To write the rows files anew:
 *
 *     GOLDEN_UPDATE=1 npx vitest run --project unit test/unit/operations/golden.test.ts
 *
 * Then read each change against the API's contract before it is committed: the rows files are the
 * truth, not the code. `shows` and `requested` are written by hand and stay as they are.
 */
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { getTableColumns } from 'drizzle-orm';
import type { PgTable } from 'drizzle-orm/pg-core';
import { format, resolveConfig } from 'prettier';
import { describe, expect, test } from 'vitest';
import { parseExactly } from '../../../src/exact-number.ts';
import { tableName } from '../../../src/db/column-types.ts';
import { type OperationName, operationNames, operations } from '../../../src/lists/registry.ts';
import { type Requested, goldenRows } from './golden.ts';

const pageEnd = '.page.json';
const rowsEnd = '.rows.json';
const folder = join(import.meta.dirname, '../../golden');
const isUpdate = process.env['GOLDEN_UPDATE'] === '1';

interface Written {
  /** What there is to see in the page, in a sentence. */
  readonly shows: string;
  readonly requested: Requested;
}

const files = globSync('*/*', { cwd: folder }).map((file) => file.replaceAll('\\', '/'));

/** As `operation/name`. */
const pages = files
  .filter((file) => file.endsWith(pageEnd))
  .map((file) => file.slice(0, -pageEnd.length))
  .toSorted();
const rowsFile = (page: string) => join(folder, `${page}${rowsEnd}`);
const readWritten = (page: string) => parseExactly(readFileSync(rowsFile(page), 'utf8')) as Written;

const nameOf = (page: string) => page.slice(0, page.indexOf('/')) as OperationName;
const bodyOf = (page: string) => readFileSync(join(folder, `${page}${pageEnd}`));

async function become(
  page: string,
  requested: Requested,
  name = nameOf(page),
  body = bodyOf(page),
) {
  const rows = await goldenRows(operations[name], body, requested);
  // As it is spelled: numbers that a double does not hold keep their digits.
  return parseExactly(JSON.stringify(rows)) as object;
}

async function refresh(page: string): Promise<void> {
  const { shows, requested } = readWritten(page);
  const text = JSON.stringify({ shows, requested, ...(await become(page, requested)) }, null, 2);
  const style = await resolveConfig(rowsFile(page));
  writeFileSync(rowsFile(page), await format(text, { ...style, parser: 'json' }));
}

describe('a page that was served', () => {
  test.each(pages)('%s becomes the rows beside it', async (page) => {
    if (isUpdate) await refresh(page);
    const { shows, requested, ...rows } = readWritten(page);
    expect(await become(page, requested)).toEqual(rows);
    expect(shows, 'say in `shows` what there is to see').not.toBe('');
  });

  test('has its rows beside it, and there is no other file', () => {
    const pairs = pages.flatMap((page) => [`${page}${pageEnd}`, `${page}${rowsEnd}`]);
    expect(new Set(files)).toEqual(new Set(pairs));
  });
});

const columnsOf = (table: PgTable) => Object.keys(getTableColumns(table)).length;

/** Rankings by one count: their items are those of factories under other names. */
const likeFactories = operationNames.filter((name) => {
  const { table, ranking } = operations[name];
  const hasOneCount = columnsOf(table) === columnsOf(operations.factories.table);
  return ranking !== null && hasOneCount && name !== 'factories';
});

test.each(
  likeFactories.flatMap((name) =>
    pages.filter((page) => nameOf(page) === 'factories').map((page) => [name, page] as const),
  ),
)('%s read %s under their own names', async (name, page) => {
  const { table, ranking } = operations[name];
  const renamed = (text: string) =>
    text
      .replaceAll('explorer.factories', tableName(table))
      .replaceAll('total_accounts', ranking?.total ?? '');
  const {
    shows: _,
    requested,
    ...rows
  } = parseExactly(renamed(readFileSync(rowsFile(page), 'utf8'))) as Written;
  const body = Buffer.from(renamed(bodyOf(page).toString()));
  expect(await become(page, requested, name, body)).toEqual(rows);
});

test('every operation has a folder of pages, or those of factories', () => {
  expect(new Set([...pages.map(nameOf), ...likeFactories])).toEqual(new Set(operationNames));
});
