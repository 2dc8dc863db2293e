import { z } from 'zod';
import { documentOf } from './envelope.ts';

const digest = z.strictObject({
  rows: z.int().min(0).describe('How many rows it has.'),
  digest: z.string().describe('The same for the same rows, whatever their order.'),
});

const values = z
  .record(z.string(), z.string().nullable())
  .nullable()
  .describe('Its columns, as Postgres writes them; null where the row is not there.');

/** `replay --json`. */
export const replayDocument = documentOf('replay', 1, {
  pages: z.int().min(0).describe('Archived pages that were replayed.'),
  rows: z.int().min(0).describe('Rows that they had.'),
  missing_pages: z
    .int()
    .min(0)
    .describe('Pages of the ledger that the archive does not hold; what they told is missing.'),
  applied_rows: z.int().min(0).describe('Rows that were taken over; 0 without --apply.'),
  tables: z
    .array(
      z
        .strictObject({
          table: z.string().describe('The table.'),
          present: digest.describe('As it is.'),
          replayed: digest.describe('As the archive makes it.'),
          differs: z.boolean().describe('Whether the two are different.'),
        })
        .describe('A table on both sides.'),
    )
    .describe(
      'Every table that pages fill. Where one differs and was not taken over, the exit reason is open.',
    ),
  differing_rows: z
    .int()
    .min(0)
    .nullable()
    .describe('How many rows differ; null where --diff did not ask for them.'),
  differences: z
    .array(
      z
        .strictObject({
          table: z.string().describe('The table.'),
          key: z.record(z.string(), z.unknown()).describe('Its primary key.'),
          present: values,
          replayed: values,
        })
        .describe('A row that differs.'),
    )
    .describe('The first 1,000 of these rows.'),
});
export type ReplayDocument = z.infer<typeof replayDocument>;
