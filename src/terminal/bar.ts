import type { Look } from './look.ts';
import { paint } from './paint.ts';

/** A bar of `width` columns; `share` is from 0 to 1, null: unknown. Only 0 is empty, 1 full. */
export function bar(look: Pick<Look, 'isColoured'>, share: number | null, width: number): string {
  if (width < 1) return '';
  if (share === null) return paint(look, 'quiet', '·'.repeat(width));
  const nearest = Math.round(Math.min(1, Math.max(0, share)) * width);
  const filled = share >= 1 ? width : share <= 0 ? 0 : Math.min(width - 1, Math.max(1, nearest));
  const full = paint(look, share >= 1 ? 'good' : 'command', '█'.repeat(filled));
  return full + paint(look, 'quiet', '░'.repeat(width - filled));
}
