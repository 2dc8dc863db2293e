import { z } from 'zod';
import { documentOf } from './envelope.ts';
import { feedFields } from './feed.ts';

const id = z.int().describe('Number of the item, as --id takes it.');

/** `quarantine list --json`. */
export const quarantineListDocument = documentOf('quarantine-list', 1, {
  count: z.int().min(0).describe('How many items there are.'),
  items: z
    .array(
      z
        .strictObject({
          id,
          ...feedFields,
          batch: z
            .int()
            .nullable()
            .describe('The batch that served it; null where the list has none.'),
          page_id: z.int().describe('The page that served it, the newest one if several did.'),
          first_seen_at: z.string().describe('When it was first served, ISO 8601.'),
          reason: z.string().describe('Why it could not become rows, for people.'),
          raw: z.unknown().describe('The item as the explorer sent it.'),
        })
        .describe('An item.'),
    )
    .describe('All of them, the oldest first.'),
});

/** `quarantine retry --json`. */
export const quarantineRetryDocument = documentOf('quarantine-retry', 1, {
  written: z
    .int()
    .min(0)
    .describe('How many of the rows added or changed something; the others were known, or older.'),
  rows: z
    .array(z.strictObject({ id, ...feedFields }).describe('An item.'))
    .describe('Items that became rows and left the quarantine.'),
  kept: z
    .array(
      z
        .strictObject({
          id,
          ...feedFields,
          reason: z.string().describe('Why, by the rules of this version, for people.'),
        })
        .describe('An item.'),
    )
    .describe('Items that are still no rows; where there are any, the exit reason is open.'),
});

/** `quarantine drop --json`. */
export const quarantineDropDocument = documentOf('quarantine-drop', 1, {
  dropped: z.int().min(0).describe('How many items were set aside.'),
});
