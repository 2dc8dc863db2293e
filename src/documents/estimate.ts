import { z } from 'zod';

export const count = (what: string) => z.number().min(0).describe(what);
export const countOrNull = (what: string) => z.number().min(0).nullable().describe(what);

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

/** Why the two are not the same. */
export const reason = z
  .enum([
    'never-read',
    'density-unknown',
    'start-unknown',
    'density-varies',
    'newest-unknown',
    'size-unknown',
    'interval-unknown',
    'length-unknown',
    'reread-varies',
  ])
  .nullable()
  .describe(
    'Why it is a range. never-read: nothing of the list was read. density-unknown: too little was read to tell how dense it is. start-unknown: nothing tells when the list begins. density-varies: some pages beside what is left are denser than the rest. newest-unknown: the newest batch was not searched yet. size-unknown: no batch was read, so a batch takes 3 to 29 pages. interval-unknown: too few batches were read to tell how often one comes. length-unknown: a ranking tells its length at its end. reread-varies: batches are read again only until they are proved. Null: it is none.',
  );
