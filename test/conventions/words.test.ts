import { execFileSync, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { folderWith } from './folder.ts';

const script = join(import.meta.dirname, '../../scripts/words.ts');

/** What the check of words prints for a repository with these files, and its exit code. */
function check(files: Readonly<Record<string, string>>) {
  const cwd = folderWith(files);
  execFileSync('git', ['init', '--quiet'], { cwd });
  execFileSync('git', ['add', '.'], { cwd });
  const { status, stderr } = spawnSync(process.execPath, [script], { cwd, encoding: 'utf8' });
  return { status, found: stderr.split('\n').slice(0, -1) };
}

test('private words are found in titles of tests, and in the cases of their tables', () => {
  const titles = [
    "test('a seam is read', () => {});",
    "describe('a list at rest', () => {});",
    "test.skipIf(isRoot)('a seam is read', () => {});",
    'test(`a seam of ${size}`, () => {});',
    "test.each([['a list at rest', 1]])('%s', () => {});",
    "const named = [['a seam', 1]];",
    "test.each(named)('%s', () => {});",
    "const part = { title: 'a seam' };",
    'const whole = [part];',
    "test.each(whole)('$title', () => {});",
  ];
  expect(check({ 'test/a.test.ts': titles.join('\n') })).toEqual({
    status: 1,
    found: [
      'test/a.test.ts:1: seam',
      'test/a.test.ts:2: at rest',
      'test/a.test.ts:3: seam',
      'test/a.test.ts:4: seam',
      'test/a.test.ts:5: at rest',
      'test/a.test.ts:6: seam',
      'test/a.test.ts:8: seam',
    ],
  });
});

test('private words are found in comments, messages, SQL and documents', () => {
  const files = {
    'README.md': 'A seam.\n',
    'simulator/a.ts': 'export const message = `a seam of ${size}`;\n',
    'sql/a.sql': "comment on table a is 'A seam.';\n",
    'src/a.ts': "// The seam.\nexport const message = 'a seam is read';\n",
  };
  const { found } = check(files);
  expect(found.toSorted()).toEqual([
    'README.md:1: seam',
    'simulator/a.ts:1: seam',
    'sql/a.sql:1: seam',
    'src/a.ts:1: seam',
    'src/a.ts:2: seam',
  ]);
});

test('what a test does, values in code, and everyday words of prose are not private', () => {
  const files = {
    'README.md': 'A list at rest.\n',
    'src/a.ts': "export const border = 'seam';\n",
    'test/a.test.ts': "test('a border is read', () => write('a seam')); // A seam.\n",
  };
  expect(check(files)).toEqual({ status: 0, found: [] });
});

test('private words are found in names of code, tests and SQL', () => {
  const files = {
    'sql/a.sql': 'select stands_on as told from a;\n',
    'src/a.ts': 'export const isTold = 1;\nexport interface A {\n  seam_at: number;\n}\n',
    'test/a.test.ts': 'const spellRange = 1;\n',
  };
  expect(check(files).found.toSorted()).toEqual([
    'sql/a.sql:1: stands',
    'sql/a.sql:1: told',
    'src/a.ts:1: Told',
    'src/a.ts:3: seam',
    'test/a.test.ts:1: spell',
  ]);
});
