import { z } from 'zod';
import { documentOf } from './envelope.ts';

const server = {
  running: z.boolean().describe('Whether the embedded Postgres runs.'),
  pid: z.int().nullable().describe('Its process; null where it does not run.'),
  port: z.int().nullable().describe('Where it listens on 127.0.0.1; null where it does not run.'),
  data_directory: z
    .string()
    .nullable()
    .describe('Where its data is; null where there is none yet.'),
  log_file: z.string().nullable().describe('Its log; null where there is none yet.'),
};

/** `db start --json`. */
export const dbStartDocument = documentOf('db-start', 1, server);

/** `db status --json`. */
export const dbStatusDocument = documentOf('db-status', 1, server);

/** `db stop --json`. */
export const dbStopDocument = documentOf('db-stop', 1, {
  stopped: z.boolean().describe('False where it was not running.'),
});

/** `db url --json`. */
export const dbUrlDocument = documentOf('db-url', 1, {
  url: z
    .string()
    .describe(
      'Address of the database: of the embedded Postgres with its password, of a server of your own without.',
    ),
});
