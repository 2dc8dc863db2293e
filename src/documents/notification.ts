import { z } from 'zod';
import { feedName, instant } from './pieces.ts';
import { verdict } from './verdict.ts';

const advice = z
  .strictObject({
    feeds: z.array(feedName).describe('The feeds that it concerns. Empty: all.'),
    text: z.string().describe('What is so, in a sentence.'),
    todo: z
      .string()
      .nullable()
      .describe('What to do, in a sentence. Null: a command says it, or nothing is to be done.'),
    command: z.string().nullable().describe('What to run. Null: no command helps.'),
  })
  .describe('One thing that a person is told, of all feeds that have it.');

/** What the webhook of `notify.url` is posted. */
export const notificationDocument = z.strictObject({
  schema: z
    .literal('explorer-etl/notification/1')
    .describe('Which document this is, and its version.'),
  number: z
    .int()
    .min(0)
    .describe(
      'Rises with each change that a database tells. One that comes twice with the same number was delivered twice. 0: of a database that is away.',
    ),
  at: instant.describe('When all was as it says. ISO 8601.'),
  text: z.string().describe('All of it in a sentence or some, for a chat.'),
  before: verdict.nullable().describe('The verdict that was told last. Null: none was.'),
  now: verdict,
  advice: z.array(advice).describe('What to tell a person, the gravest first.'),
  from: z
    .strictObject({
      database: z.string().describe('Name of the database.'),
      host: z.string().describe('Host and port of its server, or the folder of its socket.'),
      version: z.string().describe('Version of explorer-etl.'),
    })
    .describe('Where it comes from.'),
});
export type NotificationDocument = z.infer<typeof notificationDocument>;
