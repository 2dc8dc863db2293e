import { z } from 'zod';
import { documentOf } from './envelope.ts';

/** `start --json`: written when it ends. */
export const startDocument = documentOf('start', 1, {
  ready_at: z
    .string()
    .nullable()
    .describe(
      'When it began to work, ISO 8601; null where a signal came before the database answered.',
    ),
  stopped_at: z.string().describe('When it ended, ISO 8601.'),
});
