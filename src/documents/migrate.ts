import { z } from 'zod';
import { documentOf } from './envelope.ts';

/** `migrate --json`. */
export const migrateDocument = documentOf('migrate', 1, {
  applied: z.int().min(0).describe('Migrations of tables that were applied now.'),
  views: z
    .int()
    .min(0)
    .describe('Files of views and functions that were run now; 0 where none has changed.'),
  roles: z.array(z.string()).describe('Roles that were made and granted; none unless asked for.'),
  layout: z
    .strictObject({
      table: z.string().describe('The table.'),
      outcome: z
        .enum(['done', 'already'])
        .describe('done: Citus distributed it now. already: it was distributed before.'),
      rows: z
        .int()
        .nullable()
        .describe('Rows that were moved to other servers; null where none had to be.'),
    })
    .nullable()
    .describe('The table that --distribute names; null without that flag.'),
});
