import { z } from 'zod';
import { documentOf } from './envelope.ts';

const count = (what: string) => z.int().min(0).describe(what);
const countOrNull = (what: string) => z.int().min(0).nullable().describe(what);
const clock = (whose: string) =>
  z
    .int()
    .nullable()
    .describe(
      `By how many ms ${whose} clock is ahead of this machine's; negative: behind. Null: not told.`,
    );

/** `check --json`. */
export const checkDocument = documentOf('check', 1, {
  configuration: z
    .strictObject({
      file: z.string().nullable().describe('Path of the file. Null: there is none, flags only.'),
      chains: count('Chains that are chosen.'),
      feeds: count('Feeds that are chosen.'),
    })
    .describe('What is to be copied.'),
  database: z
    .strictObject({
      host: z.string().describe('Its server: a host, or the folder of a socket.'),
      port: countOrNull('Its port. Null: the usual one.'),
      name: z.string().describe('The database.'),
      server_version: z.string().describe('The version of Postgres.'),
      is_embedded: z.boolean().describe('Whether it is the embedded one.'),
      is_standby: z.boolean().describe('Whether it only reads.'),
      schema_version: z
        .string()
        .nullable()
        .describe(
          'Its newest migration, as in the manifest of an export. Null: none, or not told.',
        ),
      migrations: z
        .strictObject({
          of_program: count('Migrations that this program has.'),
          applied: count('Migrations that the database has had.'),
          missing: count('Migrations of this program that it has not had.'),
          ahead: count('Migrations of a newer program that it has had.'),
        })
        .nullable()
        .describe('How its schema compares with this program. Null: this role may not look.'),
      pooler: z
        .strictObject({
          name: z.string().describe('What it calls itself.'),
          mode: z.enum(['session', 'transaction']).describe('What it keeps for a client.'),
          is_passed: z.boolean().describe('Whether sessions go past it, by DATABASE_URL_DIRECT.'),
        })
        .nullable()
        .describe('What is between here and the server. Null: nothing, or not told.'),
      clock_ahead_ms: clock("the server's"),
    })
    .describe('Where it is copied to.'),
  explorer: z
    .strictObject({
      host: z.string().describe('The service.'),
      clock_ahead_ms: clock("the service's"),
    })
    .describe('Where it is copied from.'),
  keys: z
    .array(
      z.strictObject({
        chains: z.array(z.int()).describe('Chains that are read with it.'),
        credits_left: countOrNull(
          'What is left of today: as the service says, or of explorer.daily_credits. Null: nothing tells.',
        ),
        credits_spent_today: countOrNull(
          'What this database has spent today (UTC). Null: not told.',
        ),
      }),
    )
    .describe('The API keys, which are not told. Empty with --no-requests.'),
  feeds: z
    .array(
      z.strictObject({
        feed: z.string().describe('The feed, such as 10/user-operations.'),
        state: z.enum(['answers', 'fails']).describe('What its first page does.'),
        latency_ms: countOrNull('How long the answer took. Null: it failed.'),
        failure: z.string().nullable().describe('The class of its failure. Null: none.'),
      }),
    )
    .describe('The feeds that were asked for. Empty with --no-requests.'),
  findings: z
    .array(
      z.strictObject({
        state: z.enum(['failed', 'warning']).describe('failed: it would not do.'),
        kind: z
          .enum(['server-too-old', 'standby', 'newer-migrations', 'connection', 'clock', 'feeds'])
          .describe('What it is about.'),
        feeds: z.array(z.string()).describe('The feeds that fail so, with one key.'),
        failure: z.string().nullable().describe('The class of that failure. Null: it is another.'),
        message: z.string().describe('What is wrong and what to do, for people.'),
      }),
    )
    .describe('What is wrong. Empty: all would do.'),
});

export type CheckDocument = z.infer<typeof checkDocument>;
