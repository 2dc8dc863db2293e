import { styleText } from 'node:util';
import type { Look } from './look.ts';

/** What a colour means; which one it is, is decided here alone. */
const formats = {
  good: 'green',
  warning: 'yellow',
  bad: 'red',
  quiet: 'dim',
  strong: 'bold',
  command: 'cyan',
} as const;

export type Style = keyof typeof formats;

/** The text in the colour of its meaning; as it is where there are no colours. */
export const paint = ({ isColoured }: Pick<Look, 'isColoured'>, style: Style, text: string) =>
  // Who calls has looked already whether the stream takes colours.
  isColoured ? styleText(formats[style], text, { validateStream: false }) : text;

/** The dot before a verdict, in its colour. */
export const mark = (look: Pick<Look, 'isColoured'>, style: Style): string =>
  paint(look, style, '●');
