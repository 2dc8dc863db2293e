import type { Look } from './look.ts';
import { paint, type Style } from './paint.ts';

/** The dot before a verdict, in its colour. */
export const mark = (look: Pick<Look, 'isColoured'>, style: Style): string =>
  paint(look, style, '●');
