import { z } from 'zod';
import { documentOf } from './envelope.ts';

/**
 * `query --json`. Rows are written while they are read, so `exit` comes last here: only then it is known.
 * What ends early is no JSON, and nobody takes the half for the whole.
 */
export const queryDocument = documentOf('query', 1, {
  columns: z
    .array(
      z
        .strictObject({
          name: z.string().describe('Its name, and that of the member in each row.'),
          type: z
            .string()
            .describe(
              'Its type, as Postgres calls it, such as bigint or timestamp with time zone.',
            ),
        })
        .describe('A column.'),
    )
    .describe('The columns in order, also where there are no rows.'),
  rows: z
    .array(z.record(z.string(), z.unknown()).describe('A row: a member for each column.'))
    .describe(
      'The rows in order. Integers up to 2^53 - 1 are numbers; larger ones and numeric are strings with all digits; times are ISO 8601 in UTC; json is nested as it is.',
    ),
  row_count: z.int().min(0).describe('How many rows there are here.'),
  cut: z.boolean().describe('Whether --limit left out more rows.'),
});

/** `query --list --json`. */
export const queryListDocument = documentOf('query-list', 1, {
  questions: z
    .array(
      z
        .strictObject({
          name: z.string().describe('Its name, as query takes it.'),
          question: z.string().describe('What it answers.'),
          parameters: z
            .array(
              z
                .strictObject({
                  name: z.string().describe('Its flag, without the dashes.'),
                  default: z.number().nullable().describe('Its value if not given; null is all.'),
                  meaning: z.string().describe('What it means, for people.'),
                })
                .describe('A parameter.'),
            )
            .describe('The flags that it takes.'),
        })
        .describe('A question.'),
    )
    .describe('Every question that comes with the program.'),
});

/** `query NAME --sql --json`. */
export const querySqlDocument = documentOf('query-sql', 1, {
  sql: z.string().describe('The statement, with :chain, :days and :limit where it has them.'),
});
