import { z } from 'zod';
import { documentOf } from './envelope.ts';

/** `replay --json`. */
export const replayDocument = documentOf('replay', 1, {
  pages: z.int().min(0).describe('Archived pages that were decoded.'),
  inserted: z.int().min(0).describe("Rows that were added to the lists' own tables."),
  updated: z.int().min(0).describe("Rows of the lists' own tables that were changed."),
  released: z.int().min(0).describe('Quarantined items that became rows.'),
  quarantined: z.int().min(0).describe('Items of the pages that this version makes no row of.'),
});
