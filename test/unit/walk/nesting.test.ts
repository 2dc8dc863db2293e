import { expect, test } from 'vitest';
import { cutNesting, isDeeper } from '../../../src/sync/page.ts';

const nested = (levels: number): unknown => (levels === 0 ? 'x' : [nested(levels - 1)]);

test('counts nested lists and objects, not their values', () => {
  expect(isDeeper('x', 0)).toBe(false);
  expect(isDeeper(nested(3), 3)).toBe(false);
  expect(isDeeper(nested(4), 3)).toBe(true);
  expect(isDeeper({ a: 1, b: { c: [nested(1)] } }, 3)).toBe(true);
});

test('marks where a value was truncated, and keeps the others', () => {
  const item = JSON.parse('{"__proto__":1,"b":[2,[3]]}') as object;
  expect(JSON.stringify(cutNesting(item, 2))).toBe(
    '{"__proto__":1,"b":[2,"(nested deeper than this program reads)"]}',
  );
});

test('handles nesting too deep for recursion', () => {
  const deep: unknown = JSON.parse(`${'['.repeat(100_000)}${']'.repeat(100_000)}`);
  expect(isDeeper(deep, 128)).toBe(true);
  expect(isDeeper(cutNesting(deep, 128), 128)).toBe(false);
});
