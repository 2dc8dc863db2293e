import { WriteStream } from 'node:tty';
import { styleText } from 'node:util';

export interface Look {
  /** Whether lines can be redrawn. */
  readonly isTerminal: boolean;
  /** Width in characters. Without a terminal it limits prose and tables only, and cuts nothing. */
  readonly columns: number;
  readonly isColoured: boolean;
}

export const plainLook: Look = { isTerminal: false, columns: 100, isColoured: false };

type Stream = Pick<NodeJS.WriteStream, 'isTTY' | 'columns'>;

/**
 * What a stream is drawn on. Node decides on colour by `FORCE_COLOR`, `NO_COLOR` and `TERM`
 * (https://nodejs.org/docs/latest-v24.x/api/tty.html#writestreamgetcolordepthenv).
 */
export function lookOf({ isTTY, columns }: Stream, env: NodeJS.ProcessEnv): Look {
  // Redrawing needs a known width and a cursor that moves.
  const isTerminal = isTTY && columns > 0 && env.TERM !== 'dumb';
  const mayColour = isTTY || env.FORCE_COLOR !== undefined;
  return {
    isTerminal,
    columns: isTTY && columns > 0 ? columns : plainLook.columns,
    isColoured: mayColour && WriteStream.prototype.getColorDepth(env) > 1,
  };
}

/** The colour of each meaning; the only place for colours. */
const formats = {
  good: 'green',
  warning: 'yellow',
  bad: 'red',
  quiet: 'dim',
  strong: 'bold',
  command: 'cyan',
} as const;

export type Style = keyof typeof formats;

/** The text in the colour of its meaning, if there are colours. */
export const paint = ({ isColoured }: Pick<Look, 'isColoured'>, style: Style, text: string) =>
  // `isColoured` already includes the check of the stream.
  isColoured ? styleText(formats[style], text, { validateStream: false }) : text;

/** The dot before a verdict, in its colour. */
export const mark = (look: Pick<Look, 'isColoured'>, style: Style): string =>
  paint(look, style, '●');
