import { spawnSync } from 'node:child_process';
import { dirname, join, relative } from 'node:path';
import { describe, expect, test } from 'vitest';
import { folderWith } from './folder.ts';

const root = join(import.meta.dirname, '../..');

/** What the check of the import boundaries says of a tree with these files. */
function boundaries(files: Readonly<Record<string, string>>) {
  const cwd = folderWith(files);
  const script = join(root, 'scripts/boundaries.ts');
  const { status, stderr } = spawnSync(process.execPath, [script], { cwd, encoding: 'utf8' });
  return { status, stderr };
}

const leaf = 'export const leaf = 1;\n';
const imports = (path: string) => `import { leaf } from '${path}';\nexport const own = leaf;\n`;

test.each([
  ['src/sync/walk.ts', 'src/db/pool.ts', '../db/pool.ts'],
  ['src/cli/demo-world.ts', 'simulator/index.ts', '../../simulator/index.ts'],
])('the boundaries let %s import %s', (from, to, path) => {
  expect(boundaries({ [from]: imports(path), [to]: leaf })).toMatchObject({
    status: 0,
    stderr: '',
  });
});

describe('the boundaries refuse', () => {
  const wrong: readonly (readonly [what: string, from: string, to: string])[] = [
    ['an import of a layer above', 'src/db/pool.ts', 'src/sync/walk.ts'],
    ['modules of one layer that import each other', 'src/load/load.ts', 'src/explorer/client.ts'],
    [
      'an operation that imports a sibling',
      'src/lists/factories/index.ts',
      'src/lists/user-operations/index.ts',
    ],
    ['the product importing the simulator', 'src/sync/runs.ts', 'simulator/index.ts'],
    ['the simulator importing the product', 'simulator/index.ts', 'src/config/schema.ts'],
    ['a module without a layer', 'src/helpers/index.ts', 'src/db/pool.ts'],
    ['a test imported by the product', 'src/app.ts', 'test/world.ts'],
  ];
  test.each(wrong)('%s', (_what, from, to) => {
    const path = relative(dirname(from), to);
    const imported = path.startsWith('.') ? path : `./${path}`;
    const found = boundaries({ [from]: imports(imported), [to]: leaf });
    const stderr: unknown = expect.stringContaining(from.replace('src/', ''));
    expect(found).toMatchObject({ status: 1, stderr });
  });

  test.each(["const name = 'withdrawals';", "const path = '/withdrawals/';"])(
    'an operation that is named outside of its modules: %s',
    (text) => {
      const found = boundaries({
        'src/lists/withdrawals/index.ts': leaf,
        'src/lists/registry.ts': imports('./withdrawals/index.ts'),
        'src/sync/runs.ts': `${text}\n`,
      });
      expect(found).toMatchObject({
        status: 1,
        stderr: 'sync/runs.ts: names withdrawals, which only lists/ may\n',
      });
    },
  );

  const forms: readonly (readonly [what: string, text: string])[] = [
    ['of a type', "import type { Leaf } from '../sync/walk.ts';\nexport type Own = Leaf;\n"],
    ['that is exported again', "export { leaf } from '../sync/walk.ts';\n"],
    ['that exports all again', "export * from '../sync/walk.ts';\n"],
    ['at run time', "export const own = await import('../sync/walk.ts');\n"],
  ];
  test.each(forms)('an upward import %s', (_what, text) => {
    const found = boundaries({ 'src/db/pool.ts': text, 'src/sync/walk.ts': leaf });
    expect(found).toMatchObject({ status: 1, stderr: expect.stringContaining('sync/walk.ts') });
  });

  test('a file that cannot be read as TypeScript', () => {
    const found = boundaries({
      'src/sync/walk.ts': imports('../db/pool.ts'),
      'src/db/pool.ts': 'export const = ;\n',
    });
    expect(found).toMatchObject({ status: 1, stderr: expect.stringContaining('cannot be read') });
  });

  test.each([
    ['no file', {}],
    ['files, and no import in them', { 'src/db/pool.ts': leaf }],
  ])('a scan that found %s', (_what, files) => {
    expect(boundaries(files)).toMatchObject({ status: 1, stderr: 'nothing was scanned\n' });
  });
});
