import { z } from 'zod';
import { documentOf } from './envelope.ts';

const count = z.int().min(0);

/** `demo --json`. */
export const demoDocument = documentOf('demo', 1, {
  database: z
    .enum(['embedded', 'named'])
    .describe('embedded: the Postgres that the demo started. named: the one of DATABASE_URL.'),
  chains: z
    .array(
      z.strictObject({
        chain_id: z.int().describe('Number of the chain.'),
        name: z.string().describe('Its name.'),
      }),
    )
    .describe('The simulated chains.'),
  feeds: z
    .array(
      z.strictObject({
        feed: z.string().describe('Chain and list, such as 10/user-operations.'),
        chain_id: z.int().describe('Number of the chain.'),
        operation: z.string().describe('The list.'),
        rows: count.describe('Rows that are stored of it, those of earlier demos included.'),
        pages: count.describe('Pages that were read for them.'),
        credits: count.describe('Credits that these pages cost.'),
        state: z
          .enum(['complete', 'open'])
          .describe('As verify says: complete if nothing is open of it.'),
        evidence: z
          .enum(['proof', 'census'])
          .describe(
            'proof: ranges of the list that are proved complete. census: the whole list was read in one pass.',
          ),
        open: z.array(z.string()).describe('What is open of it, as verify says.'),
      }),
    )
    .describe('Each list of each chain.'),
  kill: z
    .strictObject({
      pid: z.int().describe('The process that was killed.'),
      is_real: z.boolean().describe('Whether SIGKILL ended it; false: it had ended by itself.'),
      feed: z.string().nullable().describe('The feed that the pages are of; null: none was read.'),
      killed_at_page: count
        .nullable()
        .describe('The last page of the walk that was committed before the kill; 0: none.'),
      resumed_at_page: count
        .nullable()
        .describe('The first page of it that was committed after the kill; null: none was.'),
      walks: count.describe('Walks that were under way.'),
      pages_lost: count.describe('Places in them where a page does not follow the one before.'),
      pages_stored_twice: count.describe('Pages of them that are stored more than once.'),
      requests_again: count.describe(
        'Requests whose answers were not stored yet, so that they were made again.',
      ),
    })
    .nullable()
    .describe('The kill, as the ledger tells it. Null: the demo was interrupted.'),
  totals: z
    .strictObject({
      rows: count.describe('Rows that this demo added.'),
      requests: count.describe('Requests that it made.'),
      credits: count.describe('What they would have cost.'),
      free_day_share: z.number().describe('That, as a share of what a free plan has for a day.'),
      seconds: z.number().describe('How long it took, the start of Postgres left out.'),
    })
    .describe('This demo, without earlier ones.'),
  failed_operations: z
    .array(
      z.strictObject({
        entry_point_version: z.string().describe('Version of the entry point.'),
        operations: count.describe('Operations of the last 30 days.'),
        share: z.number().describe('Which share of them failed.'),
        shares: z
          .array(z.number().nullable())
          .describe('The same of each three days, the oldest first; null: no operation.'),
      }),
    )
    .describe('An answer from the tables.'),
});

export type DemoDocument = z.infer<typeof demoDocument>;

/** `demo --stop --json`. */
export const demoStopDocument = documentOf('demo-stop', 1, {
  stopped: z.boolean().describe('Whether a Postgres was running.'),
});
