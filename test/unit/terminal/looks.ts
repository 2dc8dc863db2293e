import type { Look } from '../../../src/terminal/look.ts';

/** What the snapshot of a scene is drawn on. */
export const usual: Look = { isTerminal: true, columns: 80, isColoured: false };

/** What a text has to fit: three widths, with and without colours. */
export const looks: Readonly<Record<string, Look>> = Object.fromEntries(
  [60, 80, 140].flatMap((columns) =>
    [false, true].map((isColoured) => [
      `${columns} columns, ${isColoured ? 'coloured' : 'plain'}`,
      { isTerminal: true, columns, isColoured },
    ]),
  ),
);
