import { expect, test } from 'vitest';
import { initText } from '../../../src/cli/init-text.ts';
import { initDocument } from '../../../src/documents/init.ts';
import { looks } from './looks.ts';

const document = initDocument.parse({
  schema: 'explorer-etl/init/1',
  exit: { code: 0, reason: 'done' },
  file: 'explorer-etl.yaml',
  chains: [10, 8453, 42_220, 999_999],
  unknown_chains: [999_999],
});

test.each(Object.entries(looks))('init on %s', (_on, look) => {
  expect(initText(document, look, false)).toMatchSnapshot();
});

test.each([60, 80, 140])('has no line longer than %d columns', (columns) => {
  const text = initText(document, { isTerminal: true, columns, isColoured: false }, false);
  const longest = Math.max(...text.split('\n').map((line) => line.length));
  expect(longest).toBeLessThanOrEqual(columns);
});

test('a key that is there is not asked for', () => {
  const look = { isTerminal: false, columns: 100, isColoured: false };
  expect(initText(document, look, true)).not.toContain('EXPLORER_API_KEY');
});
