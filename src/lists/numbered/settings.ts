import { z } from 'zod';
import type { Configured } from '../define.ts';
import { freshness, schedule, timezone } from '../settings.ts';

const batchNumber = z.int().min(0);

/** Keys of numbered lists; parsing `{}` gives the defaults. */
export const numberedSettings = ({ guide, defaults }: Configured) =>
  z
    .strictObject({
      schedule: schedule(
        defaults.schedule,
        'Each time costs one page (20 credits) to look above the newest batch, three where one is new, 3 to 29 pages for each batch that is new, and one or more for each that is read again.',
      ),
      timezone,
      freshness,
      from_batch: batchNumber
        .default(1)
        .describe('First batch to read. Each batch costs 3 to 29 pages of 20 credits.'),
      to_batch: batchNumber
        .nullish()
        .describe(
          'Last batch to read. Without it the newest is searched, once, for under 100 pages of 20 credits, and followed.',
        ),
      reread: z
        .int()
        .min(0)
        .max(100)
        .default(2)
        .describe(
          'How many of the newest numbers are read again each time until they are proved, because a batch can be seen half imported. Each costs one page of 20 credits where nothing is new. Without effect beside to_batch.',
        ),
      parallel: z
        .int()
        .min(1)
        .max(64)
        .default(4)
        .describe('How many batches are read at once. Costs nothing: the rate limit is shared.'),
    })
    .refine(({ from_batch: from, to_batch: to }) => !(typeof to === 'number' && to < from), {
      path: ['to_batch'],
      message: 'is below from_batch: the range is reversed',
      // Also where another key is wrong, so that all problems are shown at once.
      when: ({ value }) => typeof value === 'object' && value !== null,
    })
    .transform(({ from_batch: fromBatch, to_batch, ...rest }) => ({
      ...rest,
      fromBatch,
      /** Last batch to read; null: the newest there is. */
      toBatch: to_batch ?? null,
    }))
    .describe(guide.about);

export type NumberedSettings = z.output<ReturnType<typeof numberedSettings>>;
