import { z } from 'zod';

const count = (what: string) => z.number().min(0).describe(what);
const countOrNull = (what: string) => z.number().min(0).nullable().describe(what);

/** From the least to the most of something, and what is likely. */
export const range = (what: string) =>
  z
    .strictObject({
      least: count('It is hardly less.'),
      likely: countOrNull(
        'What it is if the list is as dense as where it was read. Null: that tells nothing.',
      ),
      most: countOrNull('It is hardly more. Null: nothing tells.'),
    })
    .describe(what);
