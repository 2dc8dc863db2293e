import { link } from '../link.ts';
import type { Heights } from './facts.ts';

/** The page with a window of a feed. */
export const windowLink = (query: URLSearchParams, feed: string, { from, to }: Heights): string =>
  link(query, {
    'coverage-feed': feed,
    'coverage-from': from,
    'coverage-to': to,
    'coverage-span': null,
  });

/** A window that is moved or scaled, within what there is of the list. */
function within(whole: Heights, middle: number, size: number): Heights {
  const most = whole.to - whole.from + 1;
  const wanted = Math.max(1, Math.min(most, Math.round(size)));
  const from = Math.round(middle - wanted / 2);
  const held = Math.min(Math.max(from, whole.from), whole.to - wanted + 1);
  return { from: held, to: held + wanted - 1 };
}

/** Where one can go from a window; null: it would stay as it is. */
export function moves(
  window: Heights,
  whole: Heights,
): Readonly<Record<'older' | 'newer' | 'in' | 'out', Heights | null>> {
  const size = window.to - window.from + 1;
  const middle = window.from + size / 2;
  const moved = (to: Heights) => (to.from === window.from && to.to === window.to ? null : to);
  return {
    older: moved(within(whole, middle - size / 2, size)),
    newer: moved(within(whole, middle + size / 2, size)),
    in: moved(within(whole, middle, size / 3)),
    out: moved(within(whole, middle, size * 3)),
  };
}
