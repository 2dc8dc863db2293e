import { z } from 'zod';
import type { Paging } from './define.ts';
import type { Cursor } from './operation.ts';

/** A number, or its digits; null and blank are neither, and never mean 0. */
const wholeNumber = z
  .union([z.int().nonnegative(), z.string().regex(/^\d{1,15}$/u)])
  .transform(Number);

// The length of the page just served, so 0 after an empty one; asked for with 0 it is refused.
const items_count = wholeNumber.nullish();

/**
 * The cursor of lists whose next page has the numbers below a field's.
 *
 * @param end the highest number that nothing follows
 */
export const belowNumber = (field: 'id' | 'block_number', end: number): Paging => ({
  schema: z.object({ [field]: wholeNumber, items_count }).transform((told): Cursor | null => {
    const number = Number(told[field]);
    if (number <= end) return null;
    return told.items_count
      ? { [field]: number, items_count: told.items_count }
      : { [field]: number };
  }),
  /**
   * `items_count` is asked for on every page: generation v12 takes the page size from it and leaves it
   * out of the cursor, the older one overwrites it with its own from the cursor.
   */
  query: (cursor, pageSize) => ({ items_count: pageSize, ...cursor }),
  position({ [field]: number }) {
    return typeof number === 'number' ? { height: number, key: String(number) } : null;
  },
  names: 'above',
  cursorAt: ({ height }) => ({ [field]: height + 1 }),
  topOf: (height) => ({ height, key: String(height) }),
});
