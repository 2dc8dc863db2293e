import { z } from 'zod';
import { documentOf } from './envelope.ts';

/** `export --json`. */
export const exportDocument = documentOf('export', 1, {
  folder: z.string().describe('Where the files are.'),
  relations: z
    .array(
      z.strictObject({
        name: z.string().describe('A table, view or query.'),
        rows: z.int().min(0).describe('Rows in its files.'),
        files: z.int().min(0).describe('Number of its files.'),
      }),
    )
    .describe('What was exported, in order.'),
});
