import type { ListOrder } from '../operations/operation.ts';
import type { ToldPlace } from './order.ts';

/**
 * What items as served tell of their places: read by name, before they are rows, because the next
 * request waits for nothing else.
 */
export const toldPlaces = (order: ListOrder, items: readonly unknown[]): ToldPlace[] =>
  items.map((item) => ({
    height: heightOf(fieldOf(item, order.height)),
    key: keyOf(fieldOf(item, order.key)),
    timeMs: timeOf(fieldOf(item, order.time)),
  }));

/** A field of an item as it was served; undefined where the item has none, or is none. */
export function fieldOf(item: unknown, field: string): unknown {
  return typeof item === 'object' && item !== null ? Reflect.get(item, field) : undefined;
}

/** Heights have fifteen digits at most: what is longer is no number of a block. */
function heightOf(told: unknown): number | null {
  if (typeof told === 'string') return /^\d{1,15}$/u.test(told) ? Number(told) : null;
  return typeof told === 'number' && Number.isSafeInteger(told) && told >= 0 ? told : null;
}

const keyOf = (told: unknown) =>
  typeof told === 'string' && /^0x[0-9a-f]{64}$/iu.test(told) ? told.toLowerCase() : null;

/** A time without a zone is UTC, as the service's are. */
function timeOf(told: unknown): number | null {
  if (typeof told !== 'string') return null;
  const ms = Date.parse(/(?:Z|[+-]\d\d:?\d\d)$/iu.test(told) ? told : `${told}Z`);
  return Number.isNaN(ms) ? null : ms;
}
