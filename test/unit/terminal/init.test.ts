import { expect, test } from 'vitest';
import { initText } from '../../../src/cli/init-text.ts';
import { initDocument } from '../../../src/documents/init.ts';
import { widthOf } from '../../../src/terminal/width.ts';
import { looks, usual } from './looks.ts';

const document = initDocument.parse({
  schema: 'explorer-etl/init/1',
  exit: { code: 0, reason: 'done' },
  file: 'explorer-etl.yaml',
  chains: [10, 8453, 42_220, 999_999],
  unknown_chains: [999_999],
});

test('init on 80 columns', () => {
  expect(initText(document, usual, false)).toMatchSnapshot();
});

test.each(Object.values(looks))('fits $columns columns, coloured: $isColoured', (look) => {
  const lines = initText(document, look, false).split('\n');
  expect(lines.filter((line) => widthOf(line) > look.columns)).toEqual([]);
});

test('a key that is there is not asked for', () => {
  const look = { isTerminal: false, columns: 100, isColoured: false };
  expect(initText(document, look, true)).not.toContain('EXPLORER_API_KEY');
});
