import { stripVTControlCharacters } from 'node:util';
import { expect } from 'vitest';
import { type Look, widthOf } from '../../../src/terminal/layout.ts';

/** What the snapshot of a scene is drawn on. */
export const usual: Look = { isTerminal: true, columns: 80, isColoured: false };

/** Holds what is drawn on three widths against them, with and without colours; a command stays whole, to be copied. */
export function expectToFit(draw: (look: Look) => string): void {
  for (const columns of [60, 80, 140]) {
    for (const isColoured of [false, true]) {
      const text = draw({ isTerminal: true, columns, isColoured });
      const wide = text.split('\n').filter((line) => widthOf(line) > columns);
      const isCommand = (line: string) => stripVTControlCharacters(line).includes('explorer-etl ');
      expect(columns < 80 ? wide.filter((line) => !isCommand(line)) : wide).toEqual([]);
      expect(text.includes('\u001B')).toBe(isColoured);
    }
  }
}
