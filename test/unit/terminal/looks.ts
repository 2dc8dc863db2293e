import type { Look } from '../../../src/terminal/look.ts';

/** What texts are drawn on for snapshots: three widths, with and without colours. */
export const looks: Readonly<Record<string, Look>> = Object.fromEntries(
  [60, 80, 140].flatMap((columns) =>
    [false, true].map((isColoured) => [
      `${columns} columns, ${isColoured ? 'coloured' : 'plain'}`,
      { isTerminal: true, columns, isColoured },
    ]),
  ),
);
