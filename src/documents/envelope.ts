import { z } from 'zod';

/** Why a command ended as it did. */
const exitReasons = ['done', 'open', 'failed', 'wrong-use', 'interrupted'] as const;

export const exit = z
  .strictObject({
    code: z.int().min(0).max(255).describe('The exit code of the process.'),
    reason: z
      .enum(exitReasons)
      .describe(
        'done: all went well. open: nothing went wrong, and something is not complete. failed: something went wrong on the way. wrong-use: the command, its configuration or its database has to be mended first. interrupted: a signal ended it cleanly.',
      ),
  })
  .describe('How the command ended.');

/** What is the same of all documents of a command; `version` rises where a reader would break. */
export const documentOf = <Name extends string, Shape extends z.core.$ZodLooseShape>(
  name: Name,
  version: number,
  shape: Shape,
) =>
  z.strictObject({
    schema: z
      .literal(`explorer-etl/${name}/${version}`)
      .describe('Which document this is, and its version.'),
    exit,
    ...shape,
  });
