import { z } from 'zod';
import { documentOf } from './envelope.ts';

/** `migrate --json`. */
export const migrateDocument = documentOf('migrate', 1, {
  applied: z.int().min(0).describe('Migrations that were applied now.'),
  roles: z.array(z.string()).describe('Roles that were made and granted; none unless asked for.'),
  layout: z
    .strictObject({
      table: z.string().describe('The table.'),
      is: z.enum(['partitioned', 'distributed']).describe('How it lies now.'),
      outcome: z
        .enum(['done', 'already'])
        .describe('done: it was changed now. already: it lay so before.'),
      partitions: z
        .array(z.string())
        .nullable()
        .describe('Partitions that it has; null where it is distributed.'),
      rows: z
        .int()
        .nullable()
        .describe('Rows that were moved to other servers; null where none had to be.'),
    })
    .nullable()
    .describe('The large table; null where its layout was not asked for.'),
});
