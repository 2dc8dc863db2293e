import type { CheckDocument } from '../documents/check.ts';
import { duration } from '../terminal/numbers.ts';

/** When a clock was asked and when it answered, on this machine's. */
interface Asked {
  readonly askedMs: number;
  readonly answeredMs: number;
}

/** By how many ms a clock is ahead of this machine's: it was read somewhere between question and answer. */
export const clockAhead = (shownMs: number, { askedMs, answeredMs }: Asked): number =>
  Math.round(shownMs - (askedMs + answeredMs) / 2);

/**
 * A difference beyond this is told as a warning, in ms. Nothing is lost by it: slots and observations go by the
 * database's clock. But days of credits begin and end by it, and people read its times.
 */
const toleratedMs = 5_000;

/** A warning where a clock is not as this machine's; null where it is. */
export function clockFinding(
  whose: string,
  aheadMs: number | null,
): CheckDocument['findings'][number] | null {
  if (aheadMs === null || Math.abs(aheadMs) <= toleratedMs) return null;
  const message = `${whose} clock is ${spellAhead(aheadMs)} this machine's: let both follow a time server.`;
  return { state: 'warning', kind: 'clock', feeds: [], failure: null, message };
}

/** `2s ahead of`, `1m behind`. */
export const spellAhead = (aheadMs: number): string =>
  `${duration(Math.round(Math.abs(aheadMs) / 1000))} ${aheadMs < 0 ? 'behind' : 'ahead of'}`;
