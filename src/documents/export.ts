import { z } from 'zod';
import { documentOf } from './envelope.ts';

const rows = z.int().min(0).describe('Rows in the files.');
const bytes = z.int().min(0).describe('Size of the files.');
const files = z.int().min(0).describe('How many files there are.');

/** `export --json`. */
export const exportDocument = documentOf('export', 1, {
  folder: z.string().describe('Where the files are.'),
  format: z.enum(['parquet', 'csv']).describe('Of the files.'),
  seconds: z.number().min(0).describe('How long it took.'),
  rows,
  bytes,
  files,
  relations: z
    .array(
      z
        .strictObject({
          name: z.string().describe('The table, view or query.'),
          layout: z
            .enum(['whole', 'chain', 'day'])
            .describe('One file for all, one for each chain, or one for each chain and day.'),
          rows,
          bytes,
          files,
        })
        .describe('A table, view or query.'),
    )
    .describe('What was exported, in order.'),
  left_out: z
    .array(z.string())
    .describe('Tables that the role may not read whole, because policies hide rows of them.'),
});
