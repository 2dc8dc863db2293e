import { z } from 'zod';
import { documentOf } from './envelope.ts';

/** `open --json`: written once the page is served, which goes on until a signal comes. */
export const openDocument = documentOf('open', 1, {
  url: z.string().describe('Where the page is.'),
});
