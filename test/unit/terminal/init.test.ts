import { expect, test } from 'vitest';
import { looks, usual } from './looks.ts';
import { initText } from '../../../src/cli/init.ts';
import { widthOf } from '../../../src/terminal/layout.ts';

const commandLine = (command: string) => `npx ${command}`;
const written = {
  file: 'explorer-etl.yaml',
  chains: [10, 8453, 42_220, 999_999],
  unknown_chains: [999_999],
};

test('init on 80 columns', () => {
  expect(initText(written, usual, { hasKey: false, commandLine })).toMatchSnapshot();
});

test.each(Object.values(looks))('fits $columns columns, coloured: $isColoured', (look) => {
  const lines = initText(written, look, { hasKey: false, commandLine }).split('\n');
  expect(lines.filter((line) => widthOf(line) > look.columns)).toEqual([]);
});

test('a key that is there is not requested', () => {
  const look = { isTerminal: false, columns: 100, isColoured: false };
  expect(initText(written, look, { hasKey: true, commandLine })).not.toContain('EXPLORER_API_KEY');
});
