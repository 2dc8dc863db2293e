import { z } from 'zod';
import { documentOf } from './envelope.ts';

/** What kind of thing failed, for a program to decide by. */
export const errorKinds = [
  'usage',
  'configuration',
  'listen',
  'database-unavailable',
  'database',
  'embedded-postgres',
  'migration',
  'pooler',
  'standby',
  'statement',
  'statement-timeout',
  'export',
  'other-explorer',
  'explorer',
  'unexpected',
  'interrupted',
] as const;
export type ErrorKind = (typeof errorKinds)[number];

/** Any command with `--json` that could not write its own document. */
export const errorDocument = documentOf('error', 1, {
  errors: z
    .array(
      z
        .strictObject({
          kind: z
            .enum(errorKinds)
            .describe(
              'What failed. usage: flags and arguments, or what was asked is not possible here. configuration: the file or the environment. listen: the page cannot be served at that address. database-unavailable: no connection. database: Postgres refused a statement, or the connection was lost. embedded-postgres, migration, pooler, standby: the database has to be mended or another one named. statement, statement-timeout: of query and export. export: the folder or what was to be exported. other-explorer: the data came from another explorer. explorer: a request failed. unexpected: none of these. interrupted: by a signal.',
            ),
          code: z
            .string()
            .nullable()
            .describe(
              "The failure's code where it has one: the class of a failed request (docs/operating.md), the SQLSTATE or system code of the database, the parser's code for wrong flags.",
            ),
          where: z
            .string()
            .nullable()
            .describe('File and line, such as explorer-etl.yaml:7; null where it is no place.'),
          message: z.string().describe('For people; its words may change. Holds no secret.'),
          hint: z.string().nullable().describe('What to look at or to write instead, for people.'),
        })
        .describe('One thing to mend.'),
    )
    .min(1)
    .describe('All that is wrong, as far as it was looked for.'),
});
export type ErrorDocument = z.infer<typeof errorDocument>;
