import type { ListOrder } from '../operations/operation.ts';
import type { ToldPlace } from './order.ts';

/**
 * What items as served tell of their places: read by name, before they are rows, because the next
 * request waits for nothing else.
 */
export const toldPlaces = (
  { fields, columns }: ListOrder,
  items: readonly unknown[],
): ToldPlace[] =>
  items.map((item) => ({
    height: heightOf(firstTold(item, fields.height)),
    key:
      columns.key === columns.height
        ? heightKey(item, fields.key)
        : keyOf(firstTold(item, fields.key)),
    timeMs: timeOf(firstTold(item, fields.time)),
  }));

/** A field under the first of its names that the item has. */
export const firstTold = (item: unknown, names: readonly string[]): unknown =>
  names.map((name) => fieldOf(item, name)).find((told) => told !== undefined && told !== null);

/** The key of an item that is identified by its height. */
const heightKey = (item: unknown, names: readonly string[]) =>
  heightOf(firstTold(item, names))?.toString() ?? null;

/** A field of an item as it was served; undefined where the item has none, or is none. */
function fieldOf(item: unknown, field: string): unknown {
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
