/**
 * Holds every page of `test/golden` against the rows beside it. To write the rows files anew:
 *
 *     GOLDEN_UPDATE=1 npx vitest run --project short test/unit/operations/golden.test.ts
 *
 * Then read each change against the API's contract before it is committed: the rows files are the
 * truth, not the code. `shows` and `requested` are written by hand and stay as they are.
 */
import { globSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { format, resolveConfig } from 'prettier';
import { describe, expect, test } from 'vitest';
import { parseExactly } from '../../../src/exact-number.ts';
import { operationNames, operations } from '../../../src/lists/registry.ts';
import { folder, type GoldenPage, goldenPages, goldenRows, type Requested } from './golden.ts';

const isUpdate = process.env['GOLDEN_UPDATE'] === '1';

interface Written {
  /** What there is to see in the page, in a sentence. */
  readonly shows: string;
  readonly requested: Requested;
}

const pages = operationNames.flatMap(goldenPages);

async function become({ operation, body }: GoldenPage, requested: Requested) {
  const rows = await goldenRows(operations[operation], Buffer.from(body), requested);
  // As it is spelled: numbers that a double does not hold keep their digits.
  return parseExactly(JSON.stringify(rows)) as object;
}

async function refresh(page: GoldenPage): Promise<void> {
  const { shows, requested } = parseExactly(page.rows) as Written;
  const text = JSON.stringify({ shows, requested, ...(await become(page, requested)) }, null, 2);
  const file = join(folder, `${page.name}.rows.json`);
  const style = await resolveConfig(file);
  writeFileSync(file, await format(text, { ...style, parser: 'json' }));
}

describe('a page that was served', () => {
  test.each(pages)(
    '$name, read as a page of $operation, becomes the rows beside it',
    async (page) => {
      if (isUpdate && !page.isBorrowed) await refresh(page);
      const { shows, requested, ...rows } = parseExactly(page.rows) as Written;
      expect(await become(page, requested)).toEqual(rows);
      expect(shows, 'say in `shows` what there is to see').not.toBe('');
    },
  );

  test('has its rows beside it, and there is no other file', () => {
    const files = globSync('*/*', { cwd: folder }).map((file) => file.replaceAll('\\', '/'));
    const pairs = pages.flatMap(({ name }) => [`${name}.page.json`, `${name}.rows.json`]);
    expect(new Set(files)).toEqual(new Set(pairs));
  });
});

test('every operation has pages', () => {
  expect(new Set(pages.map(({ operation }) => operation))).toEqual(new Set(operationNames));
});
